import {
  openToken,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { group, send, upTo, wholeHistory } from '../../messages/test/support.js';
import { type Client, listen, until } from './support.js';

let t: TestApi;
let people: TestAgent[];
let alice: TestAgent;
let bob: TestAgent;
const open: Client[] = [];
beforeAll(async () => {
  t = await startTestApi();
  people = await seedAgents(
    t,
    upTo(10).map((i) => `member-${i}`),
  );
  [alice, bob] = people as [TestAgent, TestAgent];
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(() => t.close());

async function joined(...options: Parameters<typeof listen>): Promise<Client> {
  const client = await listen(...options);
  open.push(client);
  return client;
}

test('every frame is the whole message, as the history has it', async () => {
  const room = await group(t, alice, bob);
  await send(t, alice, room, 'before');
  const client = await joined(t, bob, room, 0);
  await client.until(1);
  const status = { schemaVersion: 1, type: 'status', payload: { state: 'idle' } };
  const clientMessageId = crypto.randomUUID();
  await t.api.call('sendMessage', {
    token: alice.token,
    params: { room },
    body: { ...status, clientMessageId } as never,
    expect: 201,
  });
  await send(t, bob, room, 'by the listener itself');
  await client.until(3);
  expect(client.messages).toEqual(await wholeHistory(t, bob, room));
});

test('without after only what is new comes; with it everything above', async () => {
  const room = await group(t, alice, bob);
  for (const i of upTo(3)) await send(t, alice, room, `old ${i}`);
  const [fresh, some, all, beyond] = await Promise.all([
    joined(t, bob, room),
    joined(t, bob, room, 2),
    joined(t, bob, room, '0'),
    joined(t, bob, room, 3),
  ]);
  await Promise.all([some.until(1), all.until(3)]);
  await send(t, alice, room, 'new');
  await Promise.all([fresh.until(1), some.until(2), all.until(4), beyond.until(1)]);
  expect(fresh.sequences).toEqual([4]);
  expect(some.sequences).toEqual([3, 4]);
  expect(all.sequences).toEqual([1, 2, 3, 4]);
  expect(beyond.sequences).toEqual([4]);
});

test('while eight send, replay goes over into live without a gap and without a repetition', async () => {
  const room = await group(t, ...(people as [TestAgent]));
  for (const i of upTo(70)) await send(t, alice, room, `before ${i}`);
  const early = await joined(t, bob, room, 0);
  const clients: Client[] = [early];
  const senders = people.slice(2).map(async (who) => {
    for (const i of upTo(25)) {
      await send(t, who, room, `${i} `.repeat(i % 3 ? 1 : 400));
      // In the middle of it others begin, from anywhere.
      if (i % 8 === 0) clients.push(await joined(t, bob, room, i));
    }
  });
  await Promise.all(senders);
  const total = 70 + 8 * 25;
  await until(() => clients.every(({ sequences }) => sequences.at(-1) === total));
  const history = await wholeHistory(t, bob, room);
  expect(history).toHaveLength(total);
  expect(clients.length).toBeGreaterThan(20);
  for (const { messages } of clients) {
    const from = Number(messages[0]?.sequence) - 1;
    expect(messages).toEqual(history.slice(from));
  }
});

test('a client that comes back with its last sequence has missed nothing', async () => {
  const room = await group(t, alice, bob);
  const seen: number[] = [];
  const sending = (async () => {
    for (const i of upTo(60)) await send(t, alice, room, `${i}`);
  })();
  while (seen.length < 60) {
    const client = await listen(t, bob, room, seen.at(-1) ?? 0);
    await until(() => client.frames.length >= 7 || seen.length + client.frames.length >= 60);
    client.socket.terminate();
    await client.closed;
    seen.push(...client.sequences);
  }
  await sending;
  expect(seen).toEqual(upTo(60));
});

test('a hundred sockets in one room have a message at once', async () => {
  const members = await seedAgents(
    t,
    upTo(100).map((i) => `crowd-${i}`),
  );
  const room = await group(t, alice);
  await t.database.pool.query(
    `INSERT INTO memberships (room_id, identity_id, role) SELECT $1, unnest($2::uuid[]), 'member'`,
    [room, members.map(({ id }) => id)],
  );
  const clients = await Promise.all(members.map((who) => joined(t, who, room)));
  await send(t, alice, room, 'warm');
  await Promise.all(clients.map((client) => client.until(1)));
  const started = performance.now();
  await send(t, alice, room, 'to everybody');
  await Promise.all(clients.map((client) => client.until(2)));
  // 500 ms for five times as many is the aim; the machine runs other tests too.
  expect(performance.now() - started).toBeLessThan(1_000);
  for (const client of clients) expect(client.sequences).toEqual([1, 2]);
});

test('a member whose token reaches this room only listens to it', async () => {
  const room = await group(t, alice, bob);
  const narrow = { token: await openToken(t, bob, { scopes: ['read'], roomIds: [room] }) };
  const client = await joined(t, narrow, room);
  await send(t, alice, room, 'hello');
  await client.until(1);
});
