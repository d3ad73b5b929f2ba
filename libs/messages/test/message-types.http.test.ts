import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { Message, MessageType, Receipt, SendMessage } from '@relayger/protocol';
import { storeEvent } from './events.js';
import { draft, messageAt, seedFiles } from './revising.js';
import { sealedPayload } from './sealed.js';
import {
  ack,
  crowd,
  drain,
  group,
  mailbox,
  refusal,
  roomOf,
  send,
  seqs,
  upTo,
  wholeHistory,
} from './support.js';

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
afterEach(async () => {
  await Promise.all([drain(t, alice), drain(t, bob)]);
});

const emoji = (count: number) => '😀'.repeat(count);
const uuid = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';

describe('what can be sent', () => {
  const types: [MessageType, () => Promise<object>][] = [
    ['text', async () => ({ text: 'see', attachments: await seedFiles(t, room, bob, 8) })],
    ['data', async () => ({ schema: 'a.v1', data: { a: 1 }, text: 'a summary' })],
    ['sealed', async () => sealedPayload({ recipients: [alice.id, bob.id] })],
    [
      'artifact',
      async () => ({ fileId: (await seedFiles(t, room, alice, 1))[0], caption: emoji(500) }),
    ],
    ['status', async () => ({ state: 'online' })],
  ];
  test.each(types)('%s, to a room and directly', async (type, payload) => {
    const body = draft(type, await payload());
    const sent = await send(t, alice, room, body);
    expect(await messageAt(t, bob, sent)).toMatchObject({ type, payload: body.payload });
    if (type === 'artifact' || type === 'text') return;
    const direct = draft(type, await payload());
    const options = { token: alice.token, body: { target: bob.number, message: direct } };
    const reply = await t.api.call('sendDirect', { ...options, expect: 201 });
    const { payload: stored } = await messageAt(t, bob, reply.body as Receipt);
    expect(stored).toEqual(direct.payload);
  });

  test('one file by several messages, and an artifact without a caption', async () => {
    const [fileId] = (await seedFiles(t, room, alice, 1)) as [string];
    await send(t, bob, room, draft('artifact', { fileId, caption: '' }));
    await send(t, alice, room, draft('text', { text: 'again', attachments: [fileId] }));
    const { rows } = await t.database.pool.query(
      'SELECT count(*)::int AS uses FROM message_files WHERE file_id = $1',
      [fileId],
    );
    expect(rows).toEqual([{ uses: 2 }]);
  });

  test.each(['a', 'a1', 'a.1', 'a.-', 'a_b-c.d', 'invoice.v1.draft_2', 'a'.repeat(64)])(
    'data under the schema name %s',
    async (schema) => {
      const sent = await send(t, alice, room, draft('data', { schema, data: {} }));
      expect((await messageAt(t, bob, sent)).payload).toEqual({ schema, data: {} });
    },
  );

  test('32 mentions of members', async () => {
    const members = await crowd(t, 31);
    const full = await group(t, alice, ...members);
    const mentions = [alice, ...members].map(({ id }) => id);
    const sent = await send(t, alice, full, textMessage('all', { mentions }));
    expect((await messageAt(t, alice, sent)).mentions).toEqual(mentions);
    expect((await mailbox(t, members[0] as TestAgent)).items[0]?.mentions).toEqual(mentions);
  });

  test('the first message of a room has the sequence 1, behind the 0 of an empty room', async () => {
    const fresh = await group(t, alice, bob);
    expect((await roomOf(t, alice, fresh)).sequence).toBe('0');
    expect((await send(t, alice, fresh)).seq).toBe('1');
  });
});

test('the key of a message with another root task, or with one at all, is a conflict', async () => {
  const message = textMessage('hello');
  await send(t, alice, room, message);
  for (const rootTaskId of [uuid, randomUUID()]) {
    const body = { ...message, rootTaskId } as SendMessage;
    expect(await refusal(t, alice, room, body, 409)).toBe('idempotency_conflict');
  }
});

test('what the server makes is pending with its typed body, except progress', async () => {
  const taskId = randomUUID();
  const events: [MessageType, object][] = [
    ['task', { taskId, summary: 'Translate the notes' }],
    ['progress', { taskId, percent: 50, note: 'half' }],
    ['approval_request', { approvalId: uuid }],
    ['approval_decision', { approvalId: uuid }],
    ['result', { taskId, text: 'done' }],
    ['progress', { taskId }],
    ['revision', { messageId: uuid, sequence: '1', action: 'correct', payload: { text: 'a' } }],
    [
      'revision',
      { messageId: uuid, sequence: '1', action: 'correct', payload: { schema: 'a', data: {} } },
    ],
    ['revision', { messageId: uuid, sequence: '1', action: 'retract' }],
  ];
  for (const [type, payload] of events) await storeEvent(t, room, alice, type, payload);
  // The client checks every reply against the schema of each type's body.
  const { items } = await mailbox(t, bob);
  const pending = events.filter(([type]) => type !== 'progress');
  expect(items.map(({ type, body }) => [type, body])).toEqual(pending);
  expect((await mailbox(t, alice)).items).toEqual([]);
  const history = (await wholeHistory(t, bob, room)).slice(-events.length);
  expect(history.map(({ type, payload }: Message) => [type, payload])).toEqual(events);
});

test('progress is passed like a status: by consuming and by acknowledging what is before it', async () => {
  const shared = await group(t, alice, bob);
  await send(t, alice, shared);
  await storeEvent(t, shared, alice, 'progress', { taskId: uuid });
  await send(t, alice, shared);
  await storeEvent(t, shared, alice, 'progress', { taskId: uuid });
  expect(await ack(t, bob, shared, '1')).toBe('2');
  expect(seqs((await mailbox(t, bob, { consume: '1' })).items)).toEqual([3]);
  expect(await roomOf(t, bob, shared)).toMatchObject({ sequence: '4', deliveredSequence: '4' });
});

test('what was read but not acknowledged comes again after a reconnect, to any client, until it is', async () => {
  const shared = await group(t, alice, bob);
  const sent = [];
  for (const n of upTo(3)) sent.push((await send(t, alice, shared, `${n}`)).id);
  const ids = async (door: Pick<TestApi, 'api'>) =>
    (await mailbox(door, bob)).items.filter((item) => item.room === shared).map(({ id }) => id);
  const first = await t.replica();
  expect(await ids(first)).toEqual(sent);
  await first.close();
  const second = await t.replica();
  expect(await ids(second)).toEqual(sent);
  await ack(t, bob, shared, '2');
  expect(await ids(second)).toEqual(sent.slice(2));
  await second.close();
  expect(await ids(t)).toEqual(sent.slice(2));
});
