import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import type { MailboxItem } from '@relayger/protocol';
import pg from 'pg';
import { listen as openSocket } from '../../../../libs/sockets/test/support.js';
import { type ApiProcess, build, endProcesses, startApiProcess } from './support/api-process.js';
import { type Account, openGroup, register, text } from './support/load.js';
import { TcpGate } from './support/tcp-gate.js';

// Two processes on one database. `speaking` stores and notifies; `deaf` loses the connection on which it listens.

let database: TestDatabase;
let admin: pg.Client;
let gate: TcpGate;
let speaking: ApiProcess;
let deaf: ApiProcess;
let alice: Account;
let bob: Account;
let room: string;

beforeAll(async () => {
  await build();
  database = await createTestDatabase();
  const url = new URL(database.url);
  url.pathname = '/postgres';
  admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  gate = await TcpGate.inFrontOf(database.url);
  [speaking, deaf] = await Promise.all([
    startApiProcess({ DATABASE_URL: database.url }),
    startApiProcess({ DATABASE_URL: gate.urlThrough(database.url) }),
  ]);
  [alice, bob] = await Promise.all([register(speaking.api), register(speaking.api)]);
  room = await openGroup(speaking.api, alice, bob);
}, 90_000);

afterAll(async () => {
  await Promise.all([speaking?.stop(), deaf?.stop()]);
  await endProcesses();
  await gate?.shut();
  await admin?.end();
  await database?.drop();
});

const name = () => new URL(database.url).pathname.slice(1);

async function say(value: string): Promise<string> {
  const { token } = alice;
  const query = { view: 'receipt' as const };
  const options = { token, params: { room }, query, body: text(value), expect: 201 as const };
  const { body } = await speaking.api.call('sendMessage', options);
  return (body as { id: string }).id;
}

/** Bob waits at the deaf process. */
async function listen(): Promise<{ items: MailboxItem[]; at: number }> {
  const query = { wait: 55, consume: '1' as const };
  const { body } = await deaf.api.call('readMailbox', { token: bob.token, query, expect: 200 });
  return { items: body, at: performance.now() };
}

const readiness = async () => (await deaf.api.raw('GET', '/readyz')).body;

/** Resolves when /readyz of the deaf process answers so. */
async function untilReadiness(expected: object): Promise<void> {
  for (const deadline = performance.now() + 15_000; ; await sleep(10)) {
    const found = await readiness();
    if (JSON.stringify(found) === JSON.stringify(expected)) return;
    if (performance.now() > deadline) throw new Error(`/readyz answers ${JSON.stringify(found)}`);
  }
}

const DEAF = { ready: false, database: 'up', listening: false };
const READY = { ready: true, database: 'up', listening: true };

/** How long a message takes from its sender's call to a waiting receiver at the other process, in ms. */
async function wakeLatency(): Promise<number> {
  const waiting = listen();
  await sleep(150);
  const started = performance.now();
  const id = await say('awake?');
  const { items, at } = await waiting;
  expect(items.map((item) => item.id)).toEqual([id]);
  return at - started;
}

test('LISTEN ended by the server: /readyz tells, the gap message comes, waking is fast again', async () => {
  for (let round = 0; round < 3; round++) {
    const waiting = listen();
    await sleep(150);
    await admin.query(`ALTER DATABASE ${name()} WITH ALLOW_CONNECTIONS false`);
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = $1 AND application_name = 'relayger-listen'`,
      [name()],
    );
    await untilReadiness(DEAF);
    const id = await say('into the gap');
    // It is stored and announced, and nobody here has heard it.
    expect(await Promise.race([waiting, sleep(300, 'still waiting')])).toBe('still waiting');

    await admin.query(`ALTER DATABASE ${name()} WITH ALLOW_CONNECTIONS true`);
    const reopened = performance.now();
    const { items, at } = await waiting;
    expect(items.map((item) => item.id)).toEqual([id]);
    expect(at - reopened).toBeLessThan(15_000);
    await untilReadiness(READY);
    expect(await wakeLatency()).toBeLessThan(1_000);
  }
}, 60_000);

test('LISTEN ended by the server: a socket gets the gap message, and nothing twice', async () => {
  const client = await openSocket(deaf, bob, room);
  const ids = [await say('before')];
  await admin.query(`ALTER DATABASE ${name()} WITH ALLOW_CONNECTIONS false`);
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = $1 AND application_name = 'relayger-listen'`,
    [name()],
  );
  await untilReadiness(DEAF);
  ids.push(await say('into the gap'));
  await admin.query(`ALTER DATABASE ${name()} WITH ALLOW_CONNECTIONS true`);
  await client.until(2);
  await untilReadiness(READY);
  ids.push(await say('after'));
  await client.until(3);
  expect(client.messages.map(({ messageId }) => messageId)).toEqual(ids);
  await client.close();
  expect((await listen()).items.map(({ id }) => id)).toEqual(ids);
}, 60_000);

test('LISTEN frozen by the network: noticed within 15 s, told by /readyz, nothing lost', async () => {
  const waiting = listen();
  await sleep(150);
  expect(gate.freeze('relayger-listen')).toBe(1);
  const frozen = performance.now();
  const id = await say('into the gap');
  const told = untilReadiness(DEAF).then(() => performance.now() - frozen);
  const { items, at } = await waiting;
  expect(items.map((item) => item.id)).toEqual([id]);
  expect(at - frozen).toBeLessThan(15_000);
  expect(await told).toBeLessThan(15_000);
  await untilReadiness(READY);
  expect(await wakeLatency()).toBeLessThan(1_000);
}, 45_000);
