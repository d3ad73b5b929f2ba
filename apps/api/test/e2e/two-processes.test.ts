import { type ApiClient, createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
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
