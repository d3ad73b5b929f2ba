import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { Receipt, SendMessage } from '@relayger/protocol';
import { group, mailbox, parked, send, sendRaw, upTo, wholeHistory } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
  room = await group(t, alice, bob);
  await t.befriend(alice, bob);
});
afterAll(() => t.close());

/** A message in the exact spelling of a test. */
const raw = (key: string, payload: string, type = 'data') =>
  `{"schemaVersion":1,"type":"${type}","payload":${payload},"clientMessageId":"${key}"}`;

const count = <T>(values: readonly T[], value: T) => values.filter((one) => one === value).length;

test('20 parallel retries of one key store one message, and the sequence has no gap', async () => {
  const replica = await t.replica();
  const doors = [t, { api: replica.api }];
  for (const round of upTo(15)) {
    const message = textMessage(`round ${round}`);
    const replies = await Promise.all(
      upTo(20).map((n) => sendRaw(doors[n % 2] as TestApi, alice, room, message)),
    );
    const statuses = replies.map(({ status }) => status);
    expect([count(statuses, 201), count(statuses, 200)]).toEqual([1, 19]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]?.body).toMatchObject({ seq: String(round) });
  }
  await replica.close();
  const texts = (await wholeHistory(t, bob, room)).map(({ payload }) => payload);
  expect(texts).toEqual(upTo(15).map((round) => ({ text: `round ${round}` })));
});

test('a retry while the first send is stuck in the database joins it', async () => {
  const own = await group(t, alice);
  const replica = await t.replica();
  const lock = await t.database.pool.connect();
  await lock.query('BEGIN');
  await lock.query('SELECT FROM rooms WHERE id = $1 FOR UPDATE', [own]);
  const message = textMessage('patience');
  const replies = [];
  for (const door of [t, { api: replica.api }, t, { api: replica.api }]) {
    replies.push(sendRaw(door, alice, own, message));
    await parked();
  }
  await lock.query('COMMIT');
  lock.release();
  const settled = await Promise.all(replies);
  await replica.close();
  expect(settled.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
  expect(new Set(settled.map(({ text }) => text)).size).toBe(1);
  expect(await wholeHistory(t, alice, own)).toHaveLength(1);
});

test('of parallel sends under one key with two contents, one content wins', async () => {
  const own = await group(t, alice);
  for (const _ of upTo(10)) {
    const key = randomUUID();
    const replies = await Promise.all(
      upTo(20).map((n) => sendRaw(t, alice, own, raw(key, `{"text":"${n % 2}"}`, 'text'))),
    );
    const statuses = replies.map(({ status }) => status);
    expect([201, 200, 409].map((status) => count(statuses, status))).toEqual([1, 9, 10]);
  }
  const sequences = (await wholeHistory(t, alice, own)).map(({ sequence }) => Number(sequence));
  expect(sequences).toEqual(upTo(10));
});

test('a retry answers the whole first message, and wakes or stores nothing', async () => {
  const body = textMessage('once', { mentions: [bob.id], attention: { kind: 'question' } });
  const options = { token: alice.token, params: { room }, body };
  const first = await t.api.call('sendMessage', { ...options, expect: 201 });
  const again = await t.api.call('sendMessage', { ...options, expect: 200 });
  expect(again.body).toEqual(first.body);
  const { items } = await mailbox(t, bob, { limit: 100 });
  expect(
    items.filter(({ id }) => id === (first.body as { messageId: string }).messageId),
  ).toHaveLength(1);
});

const payload = '{"schema":"a.v1","data":{"a":1,"b":2}}';
test.each([
  ['other data', '{"schema":"a.v1","data":{"a":1,"b":3}}'],
  ['reordered keys', '{"schema":"a.v1","data":{"b":2,"a":1}}'],
  ['reordered payload members', '{"data":{"a":1,"b":2},"schema":"a.v1"}'],
  ['a space inside', '{"schema":"a.v1","data":{"a":1, "b":2}}'],
  ['a line break at its end', '{"schema":"a.v1","data":{"a":1,"b":2}\n}'],
  ['another spelling of a number', '{"schema":"a.v1","data":{"a":1.0,"b":2}}'],
  ['another spelling of a key', '{"schema":"a.v1","data":{"\\u0061":1,"b":2}}'],
  ['a key twice', '{"schema":"a.v1","data":{"a":1,"a":1,"b":2}}'],
])('the key with %s is a conflict and changes nothing', async (_name, other) => {
  const key = randomUUID();
  const first = await sendRaw(t, alice, room, raw(key, payload));
  expect(first.status).toBe(201);
  const conflict = await sendRaw(t, alice, room, raw(key, other));
  expect(conflict.body).toMatchObject({ error: { code: 'idempotency_conflict' } });
  expect(conflict.status).toBe(409);
  const again = await sendRaw(t, alice, room, raw(key, payload));
  expect([again.status, again.text]).toEqual([200, first.text]);
  const newest = (await wholeHistory(t, bob, room)).at(-1);
  expect(newest).toMatchObject({ payload: JSON.parse(payload), clientMessageId: key });
});

test.each<[string, object]>([
  ['another type', { type: 'status', payload: { state: 'idle' } }],
  ['mentions', { mentions: [] as string[], withBob: true }],
  ['a reply', { reply: true }],
  ['attention', { attention: { kind: 'information' } }],
])(
  'the key with %s is a conflict',
  async (_name, {
    withBob,
    reply,
    ...more
  }: {
    withBob?: boolean;
    reply?: boolean;
  }) => {
    const { id } = await send(t, bob, room);
    const message = textMessage('hello');
    await send(t, alice, room, message);
    const changed = {
      ...message,
      ...more,
      ...(withBob && { mentions: [bob.id] }),
      ...(reply && { replyTo: id }),
    } as SendMessage;
    expect((await sendRaw(t, alice, room, changed)).status).toBe(409);
  },
);

test('white space and order outside of the payload do not matter, nor does an empty list of mentions', async () => {
  const key = randomUUID();
  const first = await sendRaw(t, alice, room, raw(key, payload));
  const spellings = [
    `{ "clientMessageId" : "${key}",\n"payload" :  ${payload} , "type":"data","schemaVersion":1}`,
    `{"schemaVersion":1.0,"type":"d\\u0061ta","payload":${payload},"clientMessageId":"${key}","mentions":[]}`,
    // Of equal keys the last one counts, in the content as in the fingerprint.
    `{"payload":{},"schemaVersion":1,"type":"data","payload":${payload},"clientMessageId":"${key}"}`,
  ];
  for (const spelling of spellings) {
    const again = await sendRaw(t, alice, room, spelling);
    expect([again.status, again.text]).toEqual([200, first.text]);
  }
});

test('keys that look like integers keep their order in the fingerprint', async () => {
  const key = randomUUID();
  const descending = '{"schema":"a","data":{"2":"b","1":"a","x":{"10":0,"9":0}}}';
  const ascending = '{"schema":"a","data":{"1":"a","2":"b","x":{"9":0,"10":0}}}';
  const first = await sendRaw(t, alice, room, raw(key, descending));
  const again = await sendRaw(t, alice, room, raw(key, descending));
  expect([first.status, again.status, again.text]).toEqual([201, 200, first.text]);
  expect((await sendRaw(t, alice, room, raw(key, ascending))).status).toBe(409);
});

test('the same key of another sender or in another room is another message', async () => {
  const other = await group(t, alice, bob);
  const message = textMessage('hello');
  const receipts = [
    await send(t, alice, room, message),
    await send(t, bob, room, message),
    await send(t, alice, other, message),
    await send(t, bob, other, { ...message, payload: { text: 'something else' } } as SendMessage),
  ];
  expect(new Set(receipts.map(({ id }) => id)).size).toBe(4);
});

test('a direct send and a send to its room share the key', async () => {
  const message = textMessage('hello');
  const body = { target: bob.number, message };
  const first = await t.api.call('sendDirect', { token: alice.token, body, expect: 201 });
  const { room: dm } = first.body as Receipt;
  const again = await sendRaw(t, alice, dm, message);
  expect([again.status, again.body]).toEqual([200, first.body]);
  const otherSpelling = { target: '@bob', message };
  await t.api.call('sendDirect', { token: alice.token, body: otherSpelling, expect: 200 });
  const changed = { target: bob.number, message: { ...message, payload: { text: 'bye' } } };
  await t.api.call('sendDirect', {
    token: alice.token,
    body: changed as typeof body,
    expect: 409,
  });
});
