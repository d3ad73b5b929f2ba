import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { Receipt } from '@relayger/protocol';
import { correction, draft, messageAt, revise } from './revising.js';
import { group, reason, refusal, send, sendRaw, wholeHistory } from './support.js';

// What messages have to do with tasks: they may name one, and change none.

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
let elsewhere: string;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
  await t.befriend(alice, bob);
  [room, elsewhere] = await Promise.all([group(t, alice, bob), group(t, alice, bob)]);
});
afterAll(() => t.close());

async function createTask(roomId: string) {
  const body = {
    roomId,
    assigneeId: bob.id,
    clientTaskId: randomUUID(),
    input: { operation: 'echo' as const, text: 'work' },
  };
  return (await t.api.call('createTask', { token: alice.token, body, expect: 201 })).body;
}

const taskAt = async (id: string) =>
  (await t.api.call('getTask', { token: alice.token, params: { id }, expect: 200 })).body;

test('a message names a root task of its room; one of another room, or none, is refused', async () => {
  const task = await createTask(room);
  const sent = await send(t, bob, room, textMessage('on it', { rootTaskId: task.id }));
  expect(await messageAt(t, alice, sent)).toMatchObject({ rootTaskId: task.id });
  for (const [where, rootTaskId] of [
    [elsewhere, task.id],
    [room, randomUUID()],
  ] as const) {
    const body = textMessage('on it', { rootTaskId });
    expect(await refusal(t, bob, where, body)).toBe('body.rootTaskId');
  }
  const message = textMessage('on it', { rootTaskId: task.id });
  const options = { token: bob.token, body: { target: alice.number, message } };
  expect(reason(await t.api.call('sendDirect', { ...options, expect: 400 }))).toBe(
    'body.message.rootTaskId',
  );
});

test('the key of a message with another root task is a conflict', async () => {
  const [one, two] = [await createTask(room), await createTask(room)];
  const message = textMessage('which?', { rootTaskId: one.id });
  const sent = await send(t, bob, room, message);
  const retry = await sendRaw(t, bob, room, message);
  expect([retry.status, retry.body]).toEqual([200, sent]);
  for (const rootTaskId of [two.id, undefined]) {
    const other = textMessage('which?', { ...message, rootTaskId } as object);
    expect(await refusal(t, bob, room, other, 409)).toBe('idempotency_conflict');
  }
});

test('a status says something of its sender and changes no task', async () => {
  const { id } = await createTask(room);
  const options = { token: bob.token, params: { id }, body: {} };
  await t.api.call('claimTask', { ...options, expect: 200 });
  const before = await taskAt(id);
  expect(before.state).toBe('running');
  for (const state of ['waiting', 'offline', 'idle', 'working', 'online']) {
    await send(t, bob, room, draft('status', { state }, { rootTaskId: id }));
    await send(t, alice, room, draft('status', { state }));
    expect(await taskAt(id)).toEqual(before);
  }
});

test('the event of a revision belongs to no task; the revised message still does', async () => {
  const { id: rootTaskId } = await createTask(room);
  const sent = await send(t, bob, room, textMessage('done son', { rootTaskId }));
  const event: Receipt = await revise(t, bob, sent, correction('done soon'));
  expect(await messageAt(t, alice, sent)).toMatchObject({ rootTaskId });
  expect(await messageAt(t, alice, event)).not.toHaveProperty('rootTaskId');
  const rooted = (await wholeHistory(t, alice, room)).filter(
    (message) => message.rootTaskId === rootTaskId,
  );
  expect(rooted.map(({ type }) => type)).toEqual(['task', 'text']);
});
