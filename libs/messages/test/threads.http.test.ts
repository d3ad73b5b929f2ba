import { randomUUID } from 'node:crypto';
import {
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import {
  LIMITS,
  type Message,
  type Receipt,
  type SendMessage,
  type Thread,
} from '@relayger/protocol';
import { sealedPayload } from './sealed.js';
import { crowd, group, reason, send, tokenFor, upTo, wholeHistory } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi();
  // Short handles: the smallest budget holds a short message of theirs.
  [alice, bob] = (await seedAgents(t, ['alice', 'bob'])) as [TestAgent, TestAgent];
});
beforeEach(async () => {
  room = await group(t, alice, bob);
});
afterAll(() => t.close());

type Page = { after?: string; limit?: number; maxBytes?: number };

const say = (text: string, who = alice): Promise<Receipt> => send(t, who, room, text);
const reply = (to: { id: string }, text = 'a reply', who = bob): Promise<Receipt> =>
  send(t, who, room, textMessage(text, { replyTo: to.id }));

async function thread(of: { id: string }, query: Page = {}, who = bob): Promise<Thread> {
  const call = { token: who.token, params: { room, id: of.id }, query };
  const { body, text } = await t.api.call('getThread', { ...call, expect: 200 });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(query.maxBytes ?? 8192);
  return body;
}
/** What does not fit: the message, and the bytes that it would take. */
async function tooLarge(of: { id: string }, query: Page = {}) {
  const call = { token: bob.token, params: { room, id: of.id }, query };
  const { body } = await t.api.call('getThread', { ...call, expect: 413 });
  expect(body.error.code).toBe('context_item_too_large');
  return body.error.details as { messageId: string; bytes: number };
}
const ids = (messages: readonly Message[]) => messages.map(({ messageId }) => messageId);
const all = { limit: 100, maxBytes: 65_536 };

describe('a thread', () => {
  test('is its root and what replies to it, directly or not, and nothing else of the room', async () => {
    const root = await say('root');
    const one = await reply(root, 'one');
    await say('another topic');
    const two = await reply(one, 'two', alice);
    const other = await say('another root');
    const three = await reply(root, 'three', alice);
    const beside = await reply(other, 'beside');
    const four = await reply(two, 'four');

    const page = await thread(root);
    const history = await wholeHistory(t, bob, room);
    const found = (id: string) => history.find(({ messageId }) => messageId === id);
    expect(page).toEqual({
      root: found(root.id),
      messages: [one, two, three, four].map(({ id }) => found(id)),
      next: null,
    });
    expect(ids((await thread(other)).messages)).toEqual([beside.id]);
  });

  test('is the same whichever of its messages names it', async () => {
    const root = await say('root');
    const one = await reply(root);
    const two = await reply(one);
    const page = await thread(root);
    for (const named of [one, two]) expect(await thread(named)).toEqual(page);
    expect((await thread(two, { after: one.seq })).messages).toEqual(page.messages.slice(1));
  });

  test('of a message that nobody replied to is that message alone', async () => {
    const root = await say('root');
    await say('beside');
    expect(await thread(root)).toMatchObject({
      root: { messageId: root.id },
      messages: [],
      next: null,
    });
  });

  test('holds every type, each as the history shows it', async () => {
    const root = await send(t, alice, room, {
      ...textMessage(''),
      type: 'data',
      payload: { schema: 'a.v1', data: { q: '"\\\n' } },
    } as SendMessage);
    const drafts = [
      textMessage('😀\u0001\u2028"', { replyTo: root.id, mentions: [alice.id] }),
      textMessage('', {
        type: 'sealed',
        payload: sealedPayload({ recipients: [alice.id] }),
        replyTo: root.id,
        attention: { kind: 'question' },
      } as Partial<SendMessage>),
      textMessage('', {
        type: 'status',
        payload: { state: 'waiting' },
        replyTo: root.id,
      } as Partial<SendMessage>),
    ];
    for (const draft of drafts) await send(t, bob, room, draft);
    const { root: first, messages } = await thread(root);
    expect([first, ...messages]).toEqual(await wholeHistory(t, bob, room));
  });

  test('is a hundred messages deep without being read otherwise', async () => {
    let last = await say('0');
    const root = last;
    for (const n of upTo(100)) last = await reply(last, String(n), n % 2 ? alice : bob);
    const page = await thread(last, all);
    expect(page.root.messageId).toBe(root.id);
    expect(page.messages.map(({ payload }) => (payload as { text: string }).text)).toEqual(
      upTo(100).map(String),
    );
    expect(page.next).toBeNull();
  });

  test('keeps the order of the room, whatever the clocks said', async () => {
    const root = await say('root');
    const replies = [];
    for (const n of upTo(6)) replies.push(await reply(root, `reply ${n}`));
    // Each is an hour older than the one before, as if the clock of the server had gone backwards.
    await t.database.pool.query(
      `UPDATE messages SET created_at = created_at - make_interval(hours => seq::int) WHERE room_id = $1`,
      [room],
    );
    const seen = [];
    for (let after: string | null = '0'; after !== null; ) {
      const page: Thread = await thread(root, { after, limit: 2 });
      seen.push(...ids(page.messages));
      after = page.next;
    }
    expect(seen).toEqual(replies.map(({ id }) => id));
  });

  test('has exact sequences beyond 2^53', async () => {
    await t.database.pool.query('UPDATE rooms SET last_seq = 9007199254740992 WHERE id = $1', [
      room,
    ]);
    const root = await say('root');
    for (const n of upTo(3)) await reply(root, String(n));
    const first = await thread(root, { limit: 1 });
    expect(first).toMatchObject({
      root: { sequence: '9007199254740993' },
      messages: [{ sequence: '9007199254740994' }],
      next: '9007199254740994',
    });
    const rest = await thread(root, { after: first.next as string });
    expect(rest.messages.map(({ sequence }) => sequence)).toEqual([
      '9007199254740995',
      '9007199254740996',
    ]);
  });
});

describe('pages', () => {
  test('next is the last sequence of the page while more follow, then null', async () => {
    const root = await say('root');
    const replies = [];
    for (const n of upTo(5)) {
      replies.push(await reply(root, `reply ${n}`));
      await say('between');
    }
    const [one, two, three, four, five] = replies as [Receipt, Receipt, Receipt, Receipt, Receipt];
    const page = async (query: Page) => {
      const { root: first, messages, next } = await thread(root, query);
      expect(first.messageId).toBe(root.id);
      return [ids(messages), next];
    };
    expect(await page({ limit: 2 })).toEqual([[one.id, two.id], two.seq]);
    expect(await page({ limit: 2, after: two.seq })).toEqual([[three.id, four.id], four.seq]);
    expect(await page({ limit: 2, after: four.seq })).toEqual([[five.id], null]);
    expect(await page({ limit: 5 })).toEqual([replies.map(({ id }) => id), null]);
    expect(await page({ limit: 4, after: one.seq })).toEqual([
      [two, three, four, five].map(({ id }) => id),
      null,
    ]);
    // Any sequence of the room is a cursor, also one between two replies.
    const between = String(BigInt(two.seq) + 1n);
    expect(await page({ limit: 1, after: between })).toEqual([[three.id], three.seq]);
    expect(await page({ after: five.seq })).toEqual([[], null]);
    expect(await page({ after: '0', limit: 100 })).toEqual([replies.map(({ id }) => id), null]);
  });

  test('ten messages and 8192 bytes unless the query says otherwise', async () => {
    const root = await say('root');
    for (const n of upTo(11)) await reply(root, String(n));
    const { messages, next } = await thread(root);
    expect(messages).toHaveLength(10);
    expect(next).toBe(messages.at(-1)?.sequence);

    const long = await say('long');
    for (const _ of upTo(11)) await reply(long, 'x'.repeat(1000));
    expect((await thread(long)).messages).toHaveLength(5);
    expect((await thread(long, all)).messages).toHaveLength(11);
  });

  test('a cursor finds what came later; none of the thread is skipped or told twice', async () => {
    const root = await say('root');
    const one = await reply(root, 'one');
    const first = await thread(root);
    expect(first.next).toBeNull();
    await say('between');
    const two = await reply(one, 'two');
    expect(ids((await thread(root, { after: one.seq })).messages)).toEqual([two.id]);
  });
});

describe('the byte budget', () => {
  test('holds exactly what it says: the whole body, with every escape', async () => {
    const root = await say('"root"\n'.repeat(20));
    for (const n of upTo(4)) await reply(root, `${'\u0001"\\😀\u2028é\n'.repeat(10)} ${n}`);
    const call = { token: bob.token, params: { room, id: root.id } };
    for (const limit of upTo(4)) {
      const query = { limit, maxBytes: 65_536 };
      const { text } = await t.api.call('getThread', { ...call, query, expect: 200 });
      const bytes = Buffer.byteLength(text);
      expect(bytes).toBeGreaterThan(text.length);
      expect((await thread(root, { limit: 4, maxBytes: bytes })).messages).toHaveLength(limit);
      if (limit > 1) {
        const shorter = await thread(root, { limit: 4, maxBytes: bytes - 1 });
        expect(shorter.messages).toHaveLength(limit - 1);
        expect(shorter.next).toBe(shorter.messages.at(-1)?.sequence);
      }
    }
  });

  test('a root that does not fit is named with the bytes it takes, and fits into them', async () => {
    const root = await say('r'.repeat(600));
    const over = await tooLarge(root, { maxBytes: 512 });
    expect(over).toEqual({ messageId: root.id, bytes: expect.any(Number) });
    expect(await tooLarge(root, { maxBytes: over.bytes - 1 })).toEqual(over);
    expect((await thread(root, { maxBytes: over.bytes })).root.messageId).toBe(root.id);
  });

  test('escapes count: a text that fits as it is does not fit as JSON', async () => {
    const plain = await say('x'.repeat(1000));
    const quoted = await say('"'.repeat(1000));
    await thread(plain, { maxBytes: 1900 });
    expect((await tooLarge(quoted, { maxBytes: 1900 })).bytes).toBeGreaterThan(2000);
  });

  test('a first reply that does not fit beside the root is named, and the next page goes on after it', async () => {
    const root = await say('root');
    const small = await reply(root, 'small');
    const large = await reply(root, 'l'.repeat(9000));
    const last = await reply(root, 'last');

    const first = await thread(root);
    expect([ids(first.messages), first.next]).toEqual([[small.id], small.seq]);
    const over = await tooLarge(root, { after: small.seq });
    expect(over.messageId).toBe(large.id);
    // The bytes it names are those that it takes to go on.
    const raised = await thread(root, { after: small.seq, maxBytes: over.bytes });
    expect([ids(raised.messages), raised.next]).toEqual([[large.id], large.seq]);
    expect((await tooLarge(root, { after: small.seq, maxBytes: over.bytes - 1 })).messageId).toBe(
      large.id,
    );
    // Or it is read by its id, and passed over.
    const params = { room, id: over.messageId };
    const { body } = await t.api.call('getMessage', { token: bob.token, params, expect: 200 });
    const rest = await thread(root, { after: body.sequence });
    expect([ids(rest.messages), rest.next]).toEqual([[last.id], null]);
  });

  test('root and reply that fit apart but not together name the reply, so that no page is empty', async () => {
    const root = await say('r'.repeat(5000));
    const first = await reply(root, 'f'.repeat(5000));
    await thread(root, { after: first.seq });
    const { messageId, bytes } = await tooLarge(root);
    expect(messageId).toBe(first.id);
    expect(ids((await thread(root, { maxBytes: bytes })).messages)).toEqual([first.id]);
  });

  test('the largest messages there are can still be read, alone or by their id', async () => {
    const members = await crowd(t, 31);
    for (const { id } of members) {
      const params = { room, identity: id };
      await t.api.call('addMember', { token: alice.token, params, expect: 201 });
    }
    const recipients = [bob.id, ...members.map(({ id }) => id)];
    const payload = sealedPayload({ recipients, bytes: LIMITS.sealedCiphertextBytes });
    const root = await send(t, alice, room, textMessage('', { type: 'sealed', payload }));
    expect((await tooLarge(root)).messageId).toBe(root.id);
    const one = await reply(root, 'one');
    expect(ids((await thread(root, { maxBytes: 65_536 })).messages)).toEqual([one.id]);
  });
});

describe('refusals', () => {
  test.each([
    ['limit 0', { limit: 0 }, 'query.limit'],
    ['limit 101', { limit: 101 }, 'query.limit'],
    ['a limit that is no number', { limit: 'all' }, 'query.limit'],
    ['a fraction', { limit: '1.5' }, 'query.limit'],
    ['511 bytes', { maxBytes: 511 }, 'query.maxBytes'],
    ['65537 bytes', { maxBytes: 65_537 }, 'query.maxBytes'],
    ['negative bytes', { maxBytes: '-8192' }, 'query.maxBytes'],
    ['no bytes', { maxBytes: '' }, 'query.maxBytes'],
    ['a negative cursor', { after: '-1' }, 'query.after'],
    ['an empty cursor', { after: '' }, 'query.after'],
    ['leading zeros', { after: '00' }, 'query.after'],
    ['a UUID as cursor', { after: randomUUID() }, 'query.after'],
    ['a cursor that the room has not reached', { after: '9223372036854775807' }, 'query.after'],
    ['a cursor beyond 64 bits', { after: '9223372036854775808' }, 'query.after'],
    ['NUL', { after: '1\u0000' }, 'query.after'],
    ['a cursor downwards', { before: '3' }, 'query'],
    ['an unknown parameter', { max_bytes: 512 }, 'query'],
  ])('refuses %s', async (_name, query, path) => {
    const { id } = await say('root');
    const call = { token: bob.token, params: { room, id }, query };
    expect(reason(await t.api.call('getThread', { ...call, expect: 400 }))).toBe(path);
  });

  test('takes the limits themselves', async () => {
    const root = await say('root');
    for (const query of [
      { limit: 1 },
      { limit: 100 },
      { maxBytes: 512 },
      { maxBytes: 65_536 },
      { after: root.seq },
    ])
      await thread(root, query);
  });

  test('refuses a parameter that is given twice, and ids that are no lowercase UUID', async () => {
    const { token } = bob;
    const { id } = await say('root');
    const twice = `/v1/rooms/${room}/threads/${id}?after=1&after=2`;
    await t.api.raw('GET', twice, { token, expect: 400 });
    for (const [params, path] of [
      [{ room, id: id.toUpperCase() }, 'params.id'],
      [{ room, id: '1' }, 'params.id'],
      [{ room: room.toUpperCase(), id }, 'params.room'],
    ] as const)
      expect(reason(await t.api.call('getThread', { token, params, expect: 400 }))).toBe(path);
  });

  test('finds neither unknown messages nor those of other rooms, and nothing for who is not in the room', async () => {
    const root = await say('root');
    const one = await reply(root);
    const elsewhere = await group(t, alice);
    const other = await send(t, alice, elsewhere);
    const [stranger] = (await crowd(t, 1)) as [TestAgent];
    const missing = async (where: string, id: string, { token } = alice) => {
      const params = { room: where, id };
      const { body } = await t.api.call('getThread', { token, params, expect: 404 });
      expect(body.error.code).toBe('not_found');
    };
    await missing(room, randomUUID());
    await missing(room, other.id);
    await missing(elsewhere, one.id);
    await missing(randomUUID(), one.id);
    for (const id of [root.id, one.id]) {
      await missing(room, id, stranger);
      await missing(room, id, await tokenFor(t, bob, { roomIds: [elsewhere] }));
      await missing(room, id, await tokenFor(t, bob, { roomIds: [] }));
    }
    const writer = await tokenFor(t, bob, { scopes: ['write'] });
    const call = { token: writer.token, params: { room, id: root.id } };
    expect(reason(await t.api.call('getThread', { ...call, expect: 403 }))).toBe(
      'insufficient_scope',
    );
  });
});
