import { type ApiClient, createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import { type Client, listen, until } from '../../../../libs/sockets/test/support.js';
import {
  type ApiProcess,
  build,
  endProcesses,
  startApiProcess,
} from '../faults/support/api-process.js';
import { type Account, historyOf, openGroup, register, text } from '../faults/support/load.js';
import { TcpGate } from '../faults/support/tcp-gate.js';

// Two processes of the service on one database; one of them can be made slow, packet by packet.

let database: TestDatabase;
let gate: TcpGate;
let near: ApiProcess;
let far: ApiProcess;

beforeAll(async () => {
  await build();
  database = await createTestDatabase();
  gate = await TcpGate.inFrontOf(database.url);
  [near, far] = await Promise.all([
    startApiProcess({ DATABASE_URL: database.url }),
    startApiProcess({ DATABASE_URL: gate.urlThrough(database.url) }),
  ]);
}, 90_000);

afterAll(async () => {
  await Promise.all([near?.stop(), far?.stop()]);
  await endProcesses();
  await gate?.shut();
  await database?.drop();
});

test('the main job: two strangers meet, and a waiting receiver has the message at once', async () => {
  const [alice, bob] = await Promise.all([register(near.api), register(far.api)]);
  const asked = { token: alice.token, params: { address: bob.number } };
  await near.api.call('requestContact', { ...asked, body: { note: 'calendar' }, expect: 200 });
  const { headers } = await far.api.call('readMailbox', { token: bob.token, expect: 200 });
  expect(headers['relayger-contact-requests']).toBe('1');
  const answered = { token: bob.token, params: { address: alice.number }, body: {} };
  await far.api.call('acceptContact', { ...answered, expect: 200 });

  const tell = async (value: string) => {
    const body = { target: bob.number, message: text(value) };
    await near.api.call('sendDirect', { token: alice.token, body, expect: 201 });
  };
  const receive = async (wait: number) => {
    const query = { wait, consume: '1' as const };
    const { body } = await far.api.call('readMailbox', { token: bob.token, query, expect: 200 });
    return body.map((item) => ({ from: item.from, body: item.body }));
  };
  await tell('first');
  expect(await receive(50)).toEqual([{ from: alice.number, body: { text: 'first' } }]);

  const latencies: number[] = [];
  for (let i = 0; i < 20; i++) {
    const waiting = receive(50).then((items) => ({ items, at: performance.now() }));
    await new Promise((resolve) => setTimeout(resolve, 30));
    const started = performance.now();
    await tell(`message ${i}`);
    const { items, at } = await waiting;
    expect(items).toEqual([{ from: alice.number, body: { text: `message ${i}` } }]);
    latencies.push(at - started);
  }
  latencies.sort((a, b) => a - b);
  // The issue asks for 100 ms; the median, since this machine also runs the other tests.
  expect(latencies[10]).toBeLessThan(100);
});

/** Follows a room by cursor, without waiting, until `done` and nothing more comes. */
async function follow(api: ApiClient, who: Account, room: string, done: () => boolean) {
  const seen: string[] = [];
  let after = '0';
  for (let last = false; ; last = done()) {
    const options = { token: who.token, params: { room }, query: { after, limit: 100 } };
    const { body } = await api.call('listMessages', { ...options, expect: 200 });
    for (const message of body) {
      expect(BigInt(message.sequence)).toBe(BigInt(after) + 1n);
      after = message.sequence;
      seen.push(message.messageId);
    }
    if (last && body.length === 0) return seen;
  }
}

/** The same by consuming the mailbox. */
async function consume(api: ApiClient, who: Account, done: () => boolean) {
  const seen: string[] = [];
  for (let last = false; ; last = done()) {
    const query = { limit: 100, consume: '1' as const };
    const { body } = await api.call('readMailbox', { token: who.token, query, expect: 200 });
    seen.push(...body.map(({ id }) => id));
    if (last && body.length === 0) return seen;
  }
}

test('a message sent to one process reaches sockets and waits at the other at once', async () => {
  const [alice, bob, carol] = await Promise.all([1, 2, 3].map(() => register(near.api)));
  const [sender, hearer, waiter] = [alice, bob, carol] as [Account, Account, Account];
  const room = await openGroup(near.api, sender, hearer, waiter);
  const sockets = [await listen(near, hearer, room), await listen(far, hearer, room)];
  const latencies: number[] = [];
  for (let i = 1; i <= 20; i++) {
    const query = { wait: 50, consume: '1' as const };
    const waiting = far.api.call('readMailbox', { token: waiter.token, query, expect: 200 });
    await new Promise((resolve) => setTimeout(resolve, 30));
    const started = performance.now();
    const options = { token: sender.token, params: { room }, body: text(`${i}`) };
    await near.api.call('sendMessage', { ...options, expect: 201 });
    await Promise.all(sockets.map((client) => client.until(i)));
    expect((await waiting).body).toHaveLength(1);
    latencies.push(performance.now() - started);
  }
  latencies.sort((a, b) => a - b);
  expect(latencies[10]).toBeLessThan(200);
  // And what one process ends, the other closes.
  const params = { room, identity: hearer.id };
  await near.api.call('removeMember', { token: sender.token, params, expect: 200 });
  const ended = performance.now();
  for (const { closed } of sockets) {
    const { code, at } = await closed;
    expect(code).toBe(1008);
    expect(at - ended).toBeLessThan(1_500);
  }
}, 30_000);

test('eight send at both processes: sockets of both have every message once and in order', async () => {
  const accounts = await Promise.all(Array.from({ length: 9 }, () => register(near.api)));
  const [reader, ...senders] = accounts as [Account, ...Account[]];
  const room = await openGroup(near.api, reader, ...senders);
  const clients: Client[] = [
    await listen(near, reader, room, 0),
    await listen(far, reader, room, 0),
  ];
  gate.latency = 20;
  await Promise.all(
    senders.map(async ({ token }, i) => {
      const { api } = i % 2 ? near : far;
      for (let round = 1; round <= 15; round++) {
        const body = text(round % 3 ? 'short' : 'long '.repeat(2_000));
        await api.call('sendMessage', { token, params: { room }, body, expect: 201 });
        if (i < 2 && round % 5 === 0)
          clients.push(await listen(i ? near : far, reader, room, round));
      }
    }),
  );
  const total = 8 * 15;
  await until(() => clients.every(({ sequences }) => sequences.at(-1) === total));
  gate.latency = 0;
  const history = await historyOf(near.api, reader, room);
  expect(history).toHaveLength(total);
  for (const client of clients) {
    const from = Number(client.messages[0]?.sequence) - 1;
    expect(client.messages).toEqual(history.slice(from));
    await client.close();
  }
}, 60_000);

test('one process is 100 ms away from the database: readers still see every message, once and in order', async () => {
  const accounts = await Promise.all(Array.from({ length: 36 }, () => register(near.api)));
  const [r1, r2, r3, r4, ...senders] = accounts as [Account, Account, Account, Account];
  const room = await openGroup(near.api, ...accounts);
  const acknowledged = new Set<string>();
  let farSending = true;
  let sending = true;
  const say = async (api: ApiClient, { token }: Account, round: number) => {
    // Mixed sizes: short ones overtake long ones on the slow line.
    const body = text(round % 2 ? 'short' : 'long '.repeat(3_000));
    const query = { view: 'receipt' as const };
    const options = { token, params: { room }, query, body, expect: 201 as const };
    const reply = await api.call('sendMessage', options);
    acknowledged.add((reply.body as { id: string }).id);
  };
  const slowly = async (sender: Account) => {
    for (let round = 0; round < 5; round++) await say(far.api, sender, round);
  };
  const meanwhile = async (sender: Account) => {
    for (let round = 0; farSending; round++) await say(near.api, sender, round);
  };

  gate.latency = 100;
  const fromFar = Promise.all(senders.slice(0, 16).map(slowly)).then(() => {
    farSending = false;
  });
  const sends = Promise.all([fromFar, ...senders.slice(16).map(meanwhile)]).finally(() => {
    sending = false;
    farSending = false;
  });
  const done = () => !sending;
  const [, ...seen] = await Promise.all([
    sends,
    follow(near.api, r1, room, done),
    follow(far.api, r2, room, done),
    consume(near.api, r3, done),
    consume(far.api, r4, done),
  ]);
  gate.latency = 0;

  const history = await historyOf(near.api, r1, room);
  const ids = history.map(({ messageId }) => messageId);
  expect(history.map(({ sequence }) => Number(sequence))).toEqual(ids.map((_, i) => i + 1));
  expect(new Set(ids)).toEqual(acknowledged);
  expect(ids.length).toBeGreaterThan(160);
  for (const each of seen) expect(each).toEqual(ids);
}, 60_000);
