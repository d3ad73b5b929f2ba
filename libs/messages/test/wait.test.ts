import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import { sealedPayload } from './sealed.js';
import {
  ack,
  crowd,
  drain,
  group,
  join,
  mailbox,
  parked,
  send,
  tokenFor,
  upTo,
} from './support.js';

let t: TestApi;
let replica: Awaited<ReturnType<TestApi['replica']>>;
let alice: TestAgent;

beforeAll(async () => {
  t = await startTestApi();
  replica = await t.replica();
  alice = await t.agent('alice');
});
afterAll(async () => {
  await replica.close();
  await t.close();
});

const ask = (from: TestAgent, to: TestAgent) =>
  t.api.call('requestContact', {
    token: from.token,
    params: { address: to.number },
    body: {},
    expect: 200,
  });

/** Starts to wait on the other process than the one that the test acts through. */
async function waiting(who: TestAgent, query: { wait?: number; consume?: '1' } = {}) {
  const reply = mailbox(replica, who, { wait: 20, ...query });
  await parked();
  return reply;
}

test('[] when the time is up, and not before', async () => {
  const { items, requests, ms } = await mailbox(t, await t.agent(), { wait: 1 });
  expect([items, requests]).toEqual([[], 0]);
  expect(ms).toBeGreaterThanOrEqual(990);
  expect(ms).toBeLessThan(2_000);
});

test('a message ends the wait, through either process, in every room', async () => {
  const bob = await t.agent();
  for (const door of [t, replica]) {
    const room = await group(t, alice, bob);
    const waits = [mailbox(t, bob, { wait: 20 }), mailbox(replica, bob, { wait: 20 })];
    await parked();
    const { id } = await send(door, alice, room);
    const started = performance.now();
    for (const { items } of await Promise.all(waits)) expect(items).toMatchObject([{ id }]);
    expect(performance.now() - started).toBeLessThan(1_000);
    await drain(t, bob);
  }
});

test('what is pending already is answered at once', async () => {
  const bob = await t.agent();
  const room = await group(t, alice, bob);
  await send(t, alice, room);
  const { items, ms } = await mailbox(t, bob, { wait: 20, consume: '1' });
  expect(items).toHaveLength(1);
  expect(ms).toBeLessThan(1_000);
  expect((await mailbox(t, bob)).items).toEqual([]);
});

test('the first message of a new conversation ends the wait', async () => {
  const bob = await t.agent();
  await t.befriend(alice, bob);
  const wait = waiting(bob, { consume: '1' });
  await parked();
  const body = { target: bob.number, message: textMessage('first') };
  await t.api.call('sendDirect', { token: alice.token, body, expect: 201 });
  const { items, ms } = await wait;
  // The room itself is news too; then the message is there at the very next look.
  const all = items.length > 0 ? items : (await mailbox(replica, bob)).items;
  expect(all).toMatchObject([{ body: { text: 'first' } }]);
  expect(ms).toBeLessThan(2_000);
});

test('a new membership ends the wait with [], and what is said there ends the next', async () => {
  const bob = await t.agent();
  const room = await group(t, alice);
  const joined = waiting(bob);
  await parked();
  await join(t, alice, room, bob);
  const first = await joined;
  expect(first.items).toEqual([]);
  expect(first.ms).toBeLessThan(2_000);
  const said = waiting(bob);
  await parked();
  const { id } = await send(t, alice, room);
  expect((await said).items).toMatchObject([{ id }]);
});

test('a new contact request ends the wait, a standing one does not', async () => {
  const bob = await t.agent();
  const first = waiting(bob);
  await parked();
  await ask(await t.agent(), bob);
  expect(await first).toMatchObject({ items: [], requests: 1 });

  const standing = await mailbox(replica, bob, { wait: 1 });
  expect(standing).toMatchObject({ items: [], requests: 1 });
  expect(standing.ms).toBeGreaterThanOrEqual(990);

  const second = waiting(bob);
  await parked();
  await ask(await t.agent(), bob);
  const { requests, ms } = await second;
  expect(requests).toBe(2);
  expect(ms).toBeLessThan(2_000);
});

test.each<[string, Parameters<typeof tokenFor>[2]]>([
  ['without the contacts scope', { scopes: ['read', 'write'] }],
  ['that is limited to rooms', { roomIds: [] }],
])('a token %s hears nothing of contact requests', async (_name, limits) => {
  const bob = await t.agent();
  await ask(await t.agent(), bob);
  const limited = await tokenFor(t, bob, limits);
  const wait = mailbox(replica, limited, { wait: 1 });
  await parked();
  await ask(await t.agent(), bob);
  const { items, requests, ms } = await wait;
  expect([items, requests]).toEqual([[], 0]);
  expect(ms).toBeGreaterThanOrEqual(990);
  expect((await mailbox(t, bob)).requests).toBe(2);
});

test('a token that is limited to rooms is woken by these only', async () => {
  const bob = await t.agent();
  const [inside, outside] = [await group(t, alice, bob), await group(t, alice, bob)];
  const limited = await tokenFor(t, bob, { roomIds: [inside] });
  const wait = waiting(limited);
  await parked();
  await send(t, alice, outside);
  await join(t, alice, await group(t, alice), bob);
  await parked();
  const { id } = await send(t, alice, inside);
  expect((await wait).items).toMatchObject([{ id }]);
});

test('own messages, status and what another client handles first do not end a wait', async () => {
  const bob = await t.agent();
  const room = await group(t, alice, bob);
  const wait = mailbox(replica, bob, { wait: 1, consume: '1' });
  await parked();
  await send(t, bob, room);
  await send(t, alice, room, {
    schemaVersion: 1,
    type: 'status',
    payload: { state: 'working' },
    clientMessageId: alice.id,
  });
  const { items, ms } = await wait;
  expect(items).toEqual([]);
  expect(ms).toBeGreaterThanOrEqual(990);
});

test('one message reaches every waiting member', async () => {
  const members = await crowd(t, 30);
  const room = await group(t, alice, ...members);
  const waits = members.map((member, i) =>
    mailbox(i % 2 ? t : replica, member, { wait: 20, consume: '1' }),
  );
  await parked();
  const { id } = await send(t, alice, room);
  for (const { items } of await Promise.all(waits)) expect(items).toMatchObject([{ id }]);
});

test('no wake falls between the look and the wait', async () => {
  const bob = await t.agent();
  const room = await group(t, alice, bob);
  for (const n of upTo(60)) {
    const [{ items, ms }, { id, seq }] = await Promise.all([
      mailbox(replica, bob, { wait: 20 }),
      send(n % 2 ? t : replica, alice, room),
    ]);
    expect(items).toMatchObject([{ id }]);
    expect(ms).toBeLessThan(5_000);
    await ack(t, bob, room, seq);
  }
});

test('waking does not depend on the size of what is said', async () => {
  const bob = await t.agent();
  const room = await group(t, alice, bob);
  const texts = [7_900, 7_999, 8_000, 8_200, 16_000].map((bytes) => 'a'.repeat(bytes));
  const payloads = [
    ...[...texts, '😀'.repeat(3_000)].map((text) => ({ type: 'text', payload: { text } })),
    { type: 'sealed', payload: sealedPayload({ recipients: [bob.id], bytes: 40_000 }) },
  ];
  for (const { type, payload } of payloads) {
    const wait = mailbox(replica, bob, { wait: 20, consume: '1' });
    await parked();
    const started = performance.now();
    await send(t, alice, room, { ...textMessage(''), type, payload } as never);
    expect((await wait).items).toMatchObject([{ type, body: payload }]);
    expect(performance.now() - started).toBeLessThan(1_000);
  }
});
