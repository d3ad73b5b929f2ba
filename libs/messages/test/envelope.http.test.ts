import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { Message, SendMessage } from '@relayger/protocol';
import { sealedPayload } from './sealed.js';
import { group, mailbox, refusal, send, upTo, wholeHistory } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
let elsewhere: string;
let foreignMessage: string;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
  room = await group(t, alice, bob);
  elsewhere = await group(t, alice);
  foreignMessage = (await send(t, alice, elsewhere)).id;
  await t.befriend(alice, bob);
});
afterAll(() => t.close());

const KEYS = [
  'clientMessageId',
  'conversationId',
  'createdAt',
  'mentions',
  'messageId',
  'payload',
  'schemaVersion',
  'sender',
  'sequence',
  'traceId',
  'type',
];
const keys = (object: object) => Object.keys(object).sort();
const data = { schema: 'a.v1', data: {} };
const status = { state: 'idle' };

test('a plain message has exactly the documented keys, and none that do not apply', async () => {
  const body = textMessage('hello');
  const sent = await t.api.call('sendMessage', {
    token: alice.token,
    params: { room },
    body,
    expect: 201,
  });
  const message = sent.body as Message;
  expect(keys(message)).toEqual(KEYS);
  expect(message).toEqual({
    ...body,
    messageId: expect.any(String),
    conversationId: room,
    sequence: '1',
    sender: { id: alice.id, handle: 'alice', kind: 'agent', number: alice.number },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    traceId: expect.any(String),
    mentions: [],
  });
  expect(Math.abs(Date.parse(message.createdAt) - Date.now())).toBeLessThan(10_000);
  expect(await wholeHistory(t, bob, room)).toEqual([message]);

  const { items } = await mailbox(t, bob);
  expect(items.map(keys)).toEqual([['body', 'from', 'id', 'room', 'seq', 'type']]);
  expect(items).toEqual([
    {
      id: message.messageId,
      room,
      seq: '1',
      from: alice.number,
      type: 'text',
      body: { text: 'hello' },
    },
  ]);
});

test('links and attention come back in the envelope, the history and the mailbox', async () => {
  const { id: replyTo } = await send(t, bob, room, 'a question?');
  const attention = { kind: 'response' as const, expiresAt: '2026-12-31T23:59:59Z' };
  const mentions = [bob.id, alice.id];
  const more = { replyTo, mentions, attention };
  const body = textMessage('an answer', more);
  const params = { room };
  const sent = await t.api.call('sendMessage', { token: alice.token, params, body, expect: 201 });
  expect(sent.body).toMatchObject(more);
  expect(keys(sent.body)).toEqual([...KEYS, 'attention', 'replyTo'].sort());
  expect((await wholeHistory(t, bob, room)).at(-1)).toEqual(sent.body);

  const item = (await mailbox(t, bob)).items.at(-1);
  expect(item).toMatchObject({ reply: replyTo, mentions, attention });
  expect(keys(item as object)).toEqual(
    ['attention', 'body', 'from', 'id', 'mentions', 'reply', 'room', 'seq', 'type'].sort(),
  );
});

test('an @ in the text mentions nobody', async () => {
  await send(t, alice, room, 'ask @bob');
  expect((await wholeHistory(t, bob, room)).at(-1)?.mentions).toEqual([]);
  expect((await mailbox(t, bob)).items.at(-1)).not.toHaveProperty('mentions');
});

test('receipt and full view of both calls, each with its default', async () => {
  const { token } = alice;
  const receipt = { id: expect.any(String), room: expect.any(String), seq: expect.any(String) };
  const params = { room };
  const inRoom = (view?: 'receipt' | 'full') =>
    t.api.call('sendMessage', {
      token,
      params,
      query: view ? { view } : {},
      body: textMessage('room'),
      expect: 201,
    });
  expect(keys((await inRoom()).body)).toEqual(KEYS);
  expect(keys((await inRoom('full')).body)).toEqual(KEYS);
  expect((await inRoom('receipt')).body).toEqual({ ...receipt, room });

  const direct = (view?: 'receipt' | 'full') =>
    t.api.call('sendDirect', {
      token,
      query: view ? { view } : {},
      body: { target: bob.number, message: textMessage('direct') },
      expect: 201,
    });
  expect((await direct()).body).toEqual(receipt);
  expect((await direct('receipt')).body).toEqual(receipt);
  const full = (await direct('full')).body;
  expect(keys(full)).toEqual(KEYS);
  expect(await wholeHistory(t, bob, (full as Message).conversationId)).toHaveLength(3);

  const wrong = { token, params, query: { view: 'compact' }, body: textMessage('x') };
  await t.api.call('sendMessage', { ...wrong, expect: 400 });
});

test('each message carries the id of the request that stored it', async () => {
  const sent = [await send(t, alice, room, 'one'), await send(t, alice, room, 'two')];
  const history = await wholeHistory(t, bob, room);
  const traces = sent.map(({ id }) => history.find(({ messageId }) => messageId === id)?.traceId);
  expect(new Set(traces).size).toBe(2);
});

const text = { text: 'hello' };
const links: [string, () => object, string][] = [
  ['a reply to a message of another room', () => ({ replyTo: foreignMessage }), 'body.replyTo'],
  ['a reply to nothing', () => ({ replyTo: randomUUID() }), 'body.replyTo'],
  ['a reply in capitals', () => ({ replyTo: randomUUID().toUpperCase() }), 'body.replyTo'],
  ['a mention of nobody', () => ({ mentions: [randomUUID()] }), 'body.mentions'],
  ['the same mention twice', () => ({ mentions: [bob.id, bob.id] }), 'body.mentions'],
  ['33 mentions', () => ({ mentions: upTo(33).map(() => randomUUID()) }), 'body.mentions'],
  ['a mention by number', () => ({ mentions: [bob.number] }), 'body.mentions[0]'],
  ['attention of no kind', () => ({ attention: {} }), 'body.attention.kind'],
  [
    'attention of an unknown kind',
    () => ({ attention: { kind: 'urgent' } }),
    'body.attention.kind',
  ],
  ['an unknown field of attention', () => ask({ until: 'now' }), 'body.attention'],
  ['an empty time', () => ask({ expiresAt: '' }), 'body.attention.expiresAt'],
  [
    'a time with an offset',
    () => ask({ expiresAt: '2026-12-31T23:59:59+02:00' }),
    'body.attention.expiresAt',
  ],
  [
    'a time without a zone',
    () => ask({ expiresAt: '2026-12-31T23:59:59' }),
    'body.attention.expiresAt',
  ],
  ['a date only', () => ask({ expiresAt: '2026-12-31' }), 'body.attention.expiresAt'],
  [
    'a day that does not exist',
    () => ask({ expiresAt: '2026-02-30T00:00:00Z' }),
    'body.attention.expiresAt',
  ],
  ['attention on a status', () => ({ type: 'status', payload: status, ...ask() }), 'body'],
  [
    'attention on an artifact',
    () => ({ type: 'artifact', payload: { fileId: randomUUID(), caption: '' }, ...ask() }),
    'body',
  ],
];
function ask(more: object = {}) {
  return { attention: { kind: 'question', ...more } };
}

test.each(links)('refuses %s', async (_name, more, path) => {
  const body = { ...textMessage('hello'), payload: text, ...more() };
  expect(await refusal(t, alice, room, body)).toBe(path);
});

test('a mention of somebody who is not in the room is refused', async () => {
  const carol = await t.agent('carol');
  const body = textMessage('hello', { mentions: [bob.id, carol.id] });
  expect(await refusal(t, alice, room, body)).toBe('body.mentions');
});

test.each([
  ['text', text],
  ['data', data],
  ['sealed', null],
])('attention of every kind is welcome on %s', async (type, payload) => {
  for (const kind of ['question', 'information', 'response']) {
    const body = {
      ...textMessage(''),
      type,
      payload: payload ?? sealedPayload({ recipients: [bob.id] }),
      attention: { kind, expiresAt: '2026-12-31T23:59:59.123456Z' },
    } as SendMessage;
    await send(t, alice, room, body);
  }
});

test('the path of an error leads into the message of a direct send', async () => {
  const body = { target: bob.number, message: textMessage('x', { replyTo: foreignMessage }) };
  const reply = await t.api.call('sendDirect', { token: alice.token, body, expect: 400 });
  expect(reply.body.error.details).toMatchObject({ issues: [{ path: 'body.message.replyTo' }] });
});
