import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { ApiReply } from '@relayger/kernel/testing';
import type { ErrorBody, Message, SendMessage } from '@relayger/protocol';
import { claim, create, order, update } from '../../tasks/test/support.js';
import { sealedPayload } from './sealed.js';
import { crowd, group, reason, send, tokenFor, upTo } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let carol: TestAgent;
/** Alice and Bob. */
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob, carol] = (await crowd(t, 3)) as [TestAgent, TestAgent, TestAgent];
  room = await group(t, alice, bob);
});
afterAll(() => t.close());

type Query = Record<string, string | number>;

async function search(query: Query, who: Pick<TestAgent, 'token'> = bob): Promise<Message[]> {
  const { body } = await t.api.call('searchMessages', { token: who.token, query, expect: 200 });
  return body;
}

/** The texts that were found, in their order. */
async function found(query: Query | string, who?: Pick<TestAgent, 'token'>): Promise<string[]> {
  const messages = await search(typeof query === 'string' ? { q: query } : query, who);
  return messages.map(({ payload }) => (payload as { text: string }).text);
}

async function refused(query: Query, status: 400 | 404 | 403 = 400, who = bob): Promise<string> {
  const reply = await t.api.call('searchMessages', { token: who.token, query, expect: status });
  return reason(reply as ApiReply<ErrorBody>);
}

const dataMessage = (text: string | undefined, data: object = {}): SendMessage => ({
  schemaVersion: 1,
  type: 'data',
  payload: { schema: 'invoice.v1', data: data as Record<string, never>, ...(text && { text }) },
  clientMessageId: randomUUID(),
});

test('finds whole envelopes, newest first, also the own ones', async () => {
  const mark = 'firstfind';
  const one = await send(t, alice, room, textMessage(`${mark} one`, { mentions: [bob.id] }));
  const two = await send(t, bob, room, textMessage(`two ${mark}`, { replyTo: one.id }));
  const messages = await search({ q: mark });
  expect(messages.map(({ messageId }) => messageId)).toEqual([two.id, one.id]);
  for (const message of messages) {
    const params = { room, id: message.messageId };
    const { body } = await t.api.call('getMessage', { token: bob.token, params, expect: 200 });
    expect(message).toEqual(body);
  }
});

test('a message is found as soon as it is acknowledged, by everybody at once', async () => {
  await Promise.all(
    upTo(20).map(async (n) => {
      const mark = `instant${n}`;
      const { id } = await send(t, n % 2 ? alice : bob, room, `x ${mark}`);
      const seen = await Promise.all([alice, bob].map((who) => search({ q: mark }, who)));
      expect(seen.map((messages) => messages.map(({ messageId }) => messageId))).toEqual([
        [id],
        [id],
      ]);
    }),
  );
});

describe('words', () => {
  beforeAll(async () => {
    await send(t, alice, room, 'The quarterly Report, v2: naïve Größe; see report-final.pdf');
    await send(t, alice, room, 'گزارش فصلی آماده است');
    await send(t, alice, room, 'launch 🚀 done 2026');
    await send(t, alice, room, 'der Fußball and the cafe');
    await send(
      t,
      alice,
      room,
      '“alpha”—beta… «gamma»\u00a0¿delta? •epsilon’s zeta、eta。 \u200etheta😀iota',
    );
    await send(t, alice, room, 'kappa/lambda <Button> https://example.com/mu?nu=xi ＯＭＥＧＡ');
  });

  test.each([
    ['one word', 'quarterly', 1],
    ['capitals or none', 'QUARTERLY', 1],
    ['an umlaut in capitals', 'GRÖSSE größe', 0],
    ['an umlaut', 'GRÖßE', 1],
    ['words in another order', 'report quarterly', 1],
    ['words of which one is missing', 'quarterly summary', 0],
    ['a part of a word', 'quarter', 0],
    ['a prefix with a star', 'quarter*', 0],
    ['a similar word', 'quarterli', 0],
    ['a plural', 'reports', 0],
    ['a word without its diaeresis', 'naive', 0],
    ['a stop word, which this dictionary does not know', 'the', 2],
    ['a file name', 'report-final.pdf', 1],
    ['Persian', 'گزارش', 1],
    ['two Persian words', 'فصلی گزارش', 1],
    ['a part of a Persian word', 'گزار', 0],
    ['a word beside an emoji', 'launch 🚀', 1],
    ['a number', '2026', 1],
    ['a sharp s', 'fußball', 1],
    ['ss for a sharp s', 'fussball', 0],
    ['an accent that is not there', 'café', 0],
    ...'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda button mu nu xi omega'
      .split(' ')
      .map((word): [string, string, number] => [`${word} beside punctuation`, word, 1]),
    ['a quoted phrase with a dash', '“alpha” — beta', 1],
    ['an address', 'https://example.com/mu', 1],
    ['Greek capitals', 'ΣΟΦΊΑ σοφία', 0],
  ])('%s', async (_name, q, count) => {
    expect(await found({ q, room })).toHaveLength(count);
  });

  test.each([
    'quarterly | nonsense',
    'quarterly & nonsense',
    'quarterly OR nonsense',
    '"quarterly nonsense"',
    '!nonsense',
    '-nonsense',
    'nonsense:*',
    "'nonsense'",
    'quart:*',
    "' data'",
    "\\' data",
    "'; SELECT pg_sleep(9); --",
    '%quarterly%nonsense',
  ])('operators are plain text: %s', async (q) => {
    expect(await found({ q, room })).toEqual([]);
  });

  test.each([
    ['<->', 'quarterly <-> report'],
    ['!', '!quarterly !!report'],
    ['brackets and stars', '((quarterly:* & report:AB*'],
  ])('%s between words is only punctuation', async (_name, q) => {
    // What looks like a weight is a word of its own to the parser.
    expect((await found({ q, room })).length).toBe(q.includes('AB') ? 0 : 1);
  });

  test.each(['!!!', '   ', '-', "''", '<->', ' . , ; ', '%', '()', '—', '…', '🚀', '\u00a0', '_'])(
    'refuses %j, which has no word',
    async (q) => {
      expect(await refused({ q })).toBe('query.q');
    },
  );

  test('takes 200 bytes and no more', async () => {
    await send(t, alice, room, 'ö'.repeat(100));
    expect(await found('ö'.repeat(100))).toEqual(['ö'.repeat(100)]);
    expect(await refused({ q: `${'ö'.repeat(100)}a` })).toBe('query.q');
    expect(await refused({ q: 'a '.repeat(4096) })).toBe('query.q');
    expect(await refused({ q: '' })).toBe('query.q');
    expect(await refused({})).toBe('query.q');
    expect(await refused({ q: 'a\u0000b' })).toBe('query.q');
    await t.api.raw('GET', '/v1/search?q=a&q=b', { token: bob.token, expect: 400 });
  });
});

describe('types', () => {
  test('data is found by its summary and by nothing inside', async () => {
    await send(t, alice, room, dataMessage('summaryword ready', { insideword: 'valueword' }));
    await send(t, alice, room, dataMessage(undefined, { text: 'insideword' }));
    expect(await found('summaryword')).toEqual(['summaryword ready']);
    for (const q of ['insideword', 'valueword', 'invoice.v1', 'data'])
      expect(await found(q)).toEqual([]);
  });

  test('sealed, status and artifact messages are never found', async () => {
    const payload = sealedPayload({ recipients: [bob.id] });
    await send(t, alice, room, { ...textMessage(''), type: 'sealed', payload });
    await send(t, alice, room, {
      ...textMessage(''),
      type: 'status',
      payload: { state: 'working' },
    });
    const words = [payload.ciphertext, payload.alg, 'working', 'e2ee'];
    for (const q of words) expect(await found(q.slice(0, 100))).toEqual([]);
  });

  test('events with a text are not found', async () => {
    const held = await claim(t, alice, await create(t, alice, order(room, alice)));
    const result = { text: 'resultword of a task' };
    await update(t, alice, held, { state: 'completed', result });
    expect(await found('resultword')).toEqual([]);
  });

  test('type narrows to texts or to data', async () => {
    await send(t, alice, room, 'kindword as text');
    await send(t, alice, room, dataMessage('kindword as data'));
    expect(await found('kindword')).toEqual(['kindword as data', 'kindword as text']);
    expect(await found({ q: 'kindword', type: 'text' })).toEqual(['kindword as text']);
    expect(await found({ q: 'kindword', type: 'data' })).toEqual(['kindword as data']);
    for (const type of ['sealed', 'status', 'result', 'TEXT', ''])
      expect(await refused({ q: 'kindword', type })).toBe('query.type');
  });
});

describe('filters', () => {
  let other: string;
  const old: string[] = [];

  beforeAll(async () => {
    other = await group(t, bob, alice, carol);
    for (const [n, who, where] of [
      [1, alice, room],
      [2, bob, room],
      [3, alice, other],
      [4, carol, other],
    ] as const)
      old.push((await send(t, who, where, `filterword ${n}`)).id);
    for (const [i, id] of old.entries()) {
      const at = `2026-03-0${i + 1}T12:00:00.500Z`;
      await t.database.pool.query('UPDATE messages SET created_at = $2 WHERE id = $1', [id, at]);
    }
  });

  const numbers = async (query: Query, who?: TestAgent) =>
    (await found({ q: 'filterword', ...query }, who)).map((text) => Number(text.split(' ')[1]));

  test('room: only that room', async () => {
    expect(await numbers({})).toEqual([4, 3, 2, 1]);
    expect(await numbers({ room })).toEqual([2, 1]);
    expect(await numbers({ room: other })).toEqual([4, 3]);
  });

  test('sender: a UUID, a number in any spelling or a handle', async () => {
    const spelled = `+${alice.number.slice(0, 3)} (${alice.number.slice(3, 6)}) ${alice.number.slice(6)}`;
    for (const sender of [alice.id, alice.number, spelled, `@${alice.handle}`, alice.handle])
      expect(await numbers({ sender })).toEqual([3, 1]);
    expect(await numbers({ sender: bob.number })).toEqual([2]);
    expect(await numbers({ sender: carol.id, room })).toEqual([]);
  });

  test('a sender that does not exist has sent nothing, which tells nothing', async () => {
    for (const sender of [randomUUID(), '@nobody-has-this', '1234567897'])
      expect(await numbers({ sender })).toEqual([]);
  });

  test('refuses what is no address', async () => {
    const digit = (Number(alice.number[9]) + 1) % 10;
    expect(await refused({ q: 'a', sender: `${alice.number.slice(0, 9)}${digit}` })).toBe(
      'invalid_number_check_digit',
    );
    expect(await refused({ q: 'a', sender: '12345' })).toBe('invalid_number');
    for (const sender of ['', 'No Body', alice.id.toUpperCase()])
      expect(await refused({ q: 'a', sender })).toBe('query.sender');
  });

  test.each<[string, Query, number[]]>([
    ['since is inclusive', { since: '2026-03-02T12:00:00.500Z' }, [4, 3, 2]],
    ['a finer time is later than the message', { since: '2026-03-02T12:00:00.5001Z' }, [4, 3]],
    ['until is exclusive', { until: '2026-03-03T12:00:00.500Z' }, [2, 1]],
    ['until lets a finer time in', { until: '2026-03-03T12:00:00.5001Z' }, [3, 2, 1]],
    ['both', { since: '2026-03-02T00:00:00Z', until: '2026-03-04T00:00:00Z' }, [3, 2]],
    ['an offset', { since: '2026-03-03T14:00:00.500+02:00' }, [4, 3]],
    ['an offset whose + was not encoded', { since: '2026-03-03T14:00:00.500 02:00' }, [4, 3]],
    ['a negative offset', { until: '2026-03-02T07:00:00.500-05:00' }, [1]],
    ['small letters', { since: '2026-03-04t12:00:00.5z' }, [4]],
    ['an empty span', { since: '2026-03-03T00:00:00Z', until: '2026-03-02T00:00:00Z' }, []],
    ['before everything', { since: '0000-01-01T00:00:00Z' }, [4, 3, 2, 1]],
    ['after everything', { until: '9999-12-31T23:59:59-23:59' }, [4, 3, 2, 1]],
    ['nothing that early', { until: '0000-01-01T00:00:00Z' }, []],
  ])('time: %s', async (_name, query, expected) => {
    expect(await numbers(query)).toEqual(expected);
  });

  test('all filters together', async () => {
    const query = {
      room: other,
      sender: alice.number,
      type: 'text',
      since: '2026-03-01T00:00:00Z',
    };
    expect(await numbers({ ...query, until: '2026-04-01T00:00:00Z' })).toEqual([3]);
    expect(await numbers({ ...query, until: '2026-03-02T00:00:00Z' })).toEqual([]);
    expect(await numbers({ ...query, type: 'data' })).toEqual([]);
  });

  test.each([
    ['since', 'yesterday'],
    ['since', '2026-03-01'],
    ['since', '2026-02-30T00:00:00Z'],
    ['since', '2026-03-01T00:00:00'],
    ['until', '1772323200'],
    ['until', ''],
    ['until', '2026-03-01T00:00:00+25:00'],
    ['until', '20260301T000000Z'],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', 'all'],
    ['room', 'general'],
  ])('refuses %s=%s', async (name, value) => {
    expect(await refused({ q: 'filterword', [name]: value })).toBe(`query.${name}`);
  });

  test('refuses a parameter it does not know', async () => {
    expect(await refused({ q: 'filterword', from: alice.number })).toBe('query');
  });

  test('limit gives the newest', async () => {
    expect(await numbers({ limit: 1 })).toEqual([4]);
    expect(await numbers({ limit: 3 })).toEqual([4, 3, 2]);
  });
});

describe('who may find what', () => {
  test('only rooms that the caller is in now', async () => {
    const place = await group(t, alice, bob);
    await send(t, alice, place, 'memberword');
    expect(await found('memberword')).toEqual(['memberword']);
    expect(await found('memberword', carol)).toEqual([]);
    expect(await refused({ q: 'memberword', room: place }, 404, carol)).toBe('not_found');
    expect(await refused({ q: 'memberword', room: randomUUID() }, 404)).toBe('not_found');

    await t.api.call('leaveRoom', {
      token: bob.token,
      params: { room: place },
      body: {},
      expect: 200,
    });
    expect(await found('memberword')).toEqual([]);
    expect(await refused({ q: 'memberword', room: place }, 404)).toBe('not_found');
    expect(await found('memberword', alice)).toEqual(['memberword']);
  });

  test('a token that is limited to rooms finds nothing elsewhere', async () => {
    const place = await group(t, alice, bob);
    await send(t, alice, place, 'limitword there');
    await send(t, alice, room, 'limitword here');
    const here = await tokenFor(t, bob, { roomIds: [room] });
    const nowhere = await tokenFor(t, bob, { roomIds: [] });
    expect(await found('limitword', here)).toEqual(['limitword here']);
    expect(await refused({ q: 'limitword', room: place }, 404, here)).toBe('not_found');
    expect(await found('limitword', nowhere)).toEqual([]);
    expect(await refused({ q: 'limitword', room }, 404, nowhere)).toBe('not_found');
  });

  test('searching needs the read scope', async () => {
    const writer = await tokenFor(t, bob, { scopes: ['write'] });
    expect(await refused({ q: 'word' }, 403, writer)).toBe('insufficient_scope');
  });

  test('a direct conversation is not found while a block stands, from either side', async () => {
    await t.befriend(alice, bob);
    const body = { target: bob.number, message: textMessage('blockword') };
    const sent = await t.api.call('sendDirect', { token: alice.token, body, expect: 201 });
    const { room: dm } = sent.body as { room: string };
    for (const who of [alice, bob]) expect(await found('blockword', who)).toEqual(['blockword']);

    const act = (name: 'blockContact' | 'unblockContact') =>
      t.api.call(name, {
        token: bob.token,
        params: { address: alice.number },
        body: {},
        expect: 200,
      });
    await act('blockContact');
    for (const who of [alice, bob]) {
      expect(await found('blockword', who)).toEqual([]);
      expect(await refused({ q: 'blockword', room: dm }, 404, who)).toBe('not_found');
    }
    await act('unblockContact');
    for (const who of [alice, bob]) expect(await found('blockword', who)).toEqual(['blockword']);
  });
});

describe('revised messages', () => {
  const revise = (id: string, body: Record<string, unknown>) =>
    t.api.raw('POST', `/v1/rooms/${room}/messages/${id}/revise`, {
      token: alice.token,
      body: { clientMessageId: randomUUID(), ...body },
      expect: 201,
    });

  test('a corrected message is found by its new words only', async () => {
    const { id } = await send(t, alice, room, 'beforeword');
    await revise(id, { action: 'correct', payload: { text: 'afterword' } });
    expect(await found('beforeword')).toEqual([]);
    const [message, ...more] = await search({ q: 'afterword' });
    expect(more).toEqual([]);
    expect(message).toMatchObject({ messageId: id, revision: { state: 'corrected', count: 1 } });
  });

  test('a retracted message is not found any more, text or data', async () => {
    const text = await send(t, alice, room, 'goneword one');
    const data = await send(t, alice, room, dataMessage('goneword two'));
    await revise(text.id, { action: 'correct', payload: { text: 'goneword corrected' } });
    for (const { id } of [text, data]) await revise(id, { action: 'retract' });
    expect(await found('goneword')).toEqual([]);
  });
});
