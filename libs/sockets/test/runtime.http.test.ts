import { randomUUID } from 'node:crypto';
import {
  openToken,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import { group, join, send } from '../../messages/test/support.js';
import { Client, listenToRuntime, runtimeOf } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let carol: TestAgent;
let client: Client;
beforeAll(async () => {
  t = await startTestApi();
});
beforeEach(async () => {
  const names = ['a', 'b', 'c'].map((name) => `${name}-${randomUUID()}`);
  [alice, bob, carol] = (await seedAgents(t, names)) as [TestAgent, TestAgent, TestAgent];
});
afterEach(() => client.close());
afterAll(() => t.close());

const SIGNAL = '{"event":"inbox_changed"}';
/** Longer than signals are gathered, and shorter than anything here waits. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 300));

/** Does something and counts the signals that follow from it. */
async function signals(act: () => Promise<unknown>): Promise<number> {
  const before = client.frames.length;
  await act();
  await quiet();
  expect(client.frames.every((frame) => frame === SIGNAL)).toBe(true);
  return client.frames.length - before;
}

const contact = (
  who: TestAgent,
  operation:
    | 'requestContact'
    | 'acceptContact'
    | 'removeContact'
    | 'rejectContact'
    | 'blockContact',
  other: TestAgent,
  body: object = {},
) =>
  t.api.call(operation, {
    token: who.token,
    params: { address: other.number },
    body: body as never,
    expect: 200,
  });

test('nothing comes at the start, and nothing while nothing happens', async () => {
  const room = await group(t, alice, bob);
  await send(t, alice, room, 'pending');
  client = await listenToRuntime(t, bob);
  expect(await signals(quiet)).toBe(0);
  expect(client.frames).toEqual([]);
});

test('a message of somebody else is a signal; the own ones and live events are none', async () => {
  const room = await group(t, alice, bob, carol);
  client = await listenToRuntime(t, bob);
  expect(await signals(() => send(t, alice, room, 'for you'))).toBe(1);
  expect(await signals(() => send(t, bob, room, 'by me'))).toBe(0);
  const status = { ...textMessage(''), type: 'status', payload: { state: 'idle' } } as never;
  expect(await signals(() => send(t, alice, room, status))).toBe(0);
  expect(await signals(() => send(t, carol, room, 'for you too'))).toBe(1);
});

test('what happens within a moment is few signals, however much it is', async () => {
  const room = await group(t, alice, bob);
  client = await listenToRuntime(t, bob);
  const burst = await signals(() =>
    Promise.all(Array.from({ length: 20 }, () => send(t, alice, room))),
  );
  expect(burst).toBeGreaterThanOrEqual(1);
  expect(burst).toBeLessThanOrEqual(3);
});

test('a new membership, and one that ends, is a signal; so is what is said in the new room', async () => {
  const rooms = [await group(t, alice, carol), await group(t, alice, carol)] as const;
  client = await listenToRuntime(t, bob);
  expect(await signals(() => join(t, alice, rooms[0], bob))).toBe(1);
  expect(await signals(() => send(t, alice, rooms[0], 'welcome'))).toBe(1);
  expect(await signals(() => send(t, alice, rooms[1], 'without you'))).toBe(0);
  const params = { room: rooms[0], identity: bob.id };
  expect(
    await signals(() => t.api.call('removeMember', { token: alice.token, params, expect: 200 })),
  ).toBe(1);
  expect(await signals(() => send(t, alice, rooms[0], 'gone'))).toBe(0);
});

test('a new direct conversation with its first message', async () => {
  await t.befriend(alice, bob);
  client = await listenToRuntime(t, bob);
  const body = { target: bob.number, message: textMessage('hello') };
  const count = await signals(() =>
    t.api.call('sendDirect', { token: alice.token, body, expect: 201 }),
  );
  expect(count).toBeGreaterThanOrEqual(1);
  expect(count).toBeLessThanOrEqual(2);
});

test('another number of pending contact requests, whichever way it changes', async () => {
  client = await listenToRuntime(t, bob);
  expect(await signals(() => contact(alice, 'requestContact', bob, { note: 'hi' }))).toBe(1);
  // The same request with another note changes no number.
  expect(await signals(() => contact(alice, 'requestContact', bob, { note: 'hello' }))).toBe(0);
  expect(await signals(() => contact(carol, 'requestContact', bob))).toBe(1);
  expect(await signals(() => contact(carol, 'removeContact', bob))).toBe(1);
  expect(await signals(() => contact(bob, 'acceptContact', alice))).toBe(1);
  // A contact that it asks for itself is not its to answer.
  expect(await signals(() => contact(bob, 'requestContact', carol))).toBe(0);
});

test('a token that may not answer requests does not hear of them', async () => {
  const runtime = await runtimeOf(t, bob);
  const token = await openToken(t, bob, { scopes: ['read', 'write'] });
  client = await Client.open(t.origin, { token }, `runtime=${runtime}`);
  expect(await signals(() => contact(alice, 'requestContact', bob))).toBe(0);
});

test('a token for certain rooms hears of those', async () => {
  const [inside, outside] = [await group(t, alice, bob), await group(t, alice, bob)];
  const runtime = await runtimeOf(t, bob);
  const token = await openToken(t, bob, { roomIds: [inside] });
  client = await Client.open(t.origin, { token }, `runtime=${runtime}`);
  expect(await signals(() => send(t, alice, outside))).toBe(0);
  expect(await signals(() => send(t, alice, inside))).toBe(1);
});

test('every socket of the agent hears it, at whichever process', async () => {
  const room = await group(t, alice, bob);
  const far = await t.replica();
  const runtime = await runtimeOf(t, bob);
  const other = await Client.open(far.origin, bob, `runtime=${runtime}`);
  client = await listenToRuntime(t, bob);
  expect(await signals(() => send(t, alice, room))).toBe(1);
  expect(await signals(() => send(far, alice, room))).toBe(1);
  expect(other.frames).toEqual([SIGNAL, SIGNAL]);
  await other.close();
  await far.close();
});
