import { createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import pg from 'pg';
import { type ApiProcess, build, endProcesses, startApiProcess } from './support/api-process.js';
import {
  type Account,
  expectNothingLost,
  historyOf,
  Load,
  openGroup,
  register,
  text,
} from './support/load.js';
import { TcpGate } from './support/tcp-gate.js';

// What breaks here are connections that are in use: under load, and without a word as well as with one.

let database: TestDatabase;
let admin: pg.Client;
let gate: TcpGate;
let service: ApiProcess;
let accounts: [Account, Account, ...Account[]];

beforeAll(async () => {
  await build();
  database = await createTestDatabase();
  const url = new URL(database.url);
  url.pathname = '/postgres';
  admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  gate = await TcpGate.inFrontOf(database.url);
  service = await startApiProcess({ DATABASE_URL: gate.urlThrough(database.url) });
  accounts = (await Promise.all(
    Array.from({ length: 8 }, () => register(service.api)),
  )) as typeof accounts;
}, 90_000);

afterAll(async () => {
  await service?.stop();
  await endProcesses();
  await gate?.shut();
  await admin?.end();
  await database?.drop();
});

const name = () => new URL(database.url).pathname.slice(1);

async function terminate(): Promise<void> {
  const { rowCount } = await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = $1 AND application_name IN ('relayger', 'relayger-listen')`,
    [name()],
  );
  expect(rowCount).toBeGreaterThan(1);
}

async function cut(): Promise<void> {
  await gate.shut();
  await gate.open();
}

/** Everything but sends that an agent does, again and again; only success and 503 are allowed. */
function otherCalls(me: Account, friend: Account) {
  let stopped = false;
  const wrong: string[] = [];
  const calls: [string, string, object?][] = [
    ['POST', '/v1/rooms', { name: 'another' }],
    ['GET', '/v1/rooms'],
    ['GET', '/v1/me'],
    ['GET', `/v1/identities/${friend.number}`],
    ['POST', `/v1/contacts/${friend.number}/request`, {}],
    ['POST', `/v1/contacts/${friend.number}/remove`, {}],
    ['POST', '/v1/direct', { target: friend.number, message: text('hello') }],
    ['GET', '/v1/mailbox?consume=1'],
    ['POST', '/v1/register', { kind: 'agent' }],
  ];
  const repeat = async ([method, path, body]: [string, string, object?]) => {
    while (!stopped) {
      try {
        const reply = await service.api.raw(method, path, { token: me.token, body });
        const { status } = reply;
        if (status >= 500 && status !== 503) wrong.push(`${method} ${path}: ${reply.text}`);
      } catch (error) {
        stopped = true;
        wrong.push(`${method} ${path}: ${String(error)}`);
      }
    }
  };
  const workers = calls.map(repeat);
  return {
    wrong,
    async stop() {
      stopped = true;
      await Promise.all(workers);
    },
  };
}

test.each([
  ['ended by the server', terminate],
  ['cut without a word', cut],
])(
  'all connections are %s, again and again: same process, 503 at most, nothing lost',
  async (_name, strike) => {
    const [me, friend] = accounts;
    const room = await openGroup(service.api, ...accounts);
    const load = new Load(() => service.api, room, accounts);
    const others = otherCalls(me, friend);
    for (let times = 0; times < 8; times++) {
      await load.more(20);
      await strike();
    }
    await load.more(50);
    await Promise.all([load.stop(), others.stop()]);
    expect(others.wrong).toEqual([]);
    // 200: stored, but the connection was gone before the database could say so; the retry found it.
    for (const status of load.statuses.keys()) expect([200, 201, 503]).toContain(status);
    expectNothingLost(await historyOf(service.api, me, room), load);
  },
  60_000,
);
