import { createApiClient, createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import pg from 'pg';
import { listen } from '../../../../libs/sockets/test/support.js';
import { type ApiProcess, build, endProcesses, startApiProcess } from './support/api-process.js';
import { type Account, historyOf, openGroup, register, text } from './support/load.js';

let database: TestDatabase;
let client: pg.Client;
let service: ApiProcess;
let accounts: [Account, ...Account[]];
let room: string;

beforeAll(async () => {
  await build();
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
}, 90_000);

beforeEach(async () => {
  service = await startApiProcess({ DATABASE_URL: database.url });
  accounts = (await Promise.all(
    Array.from({ length: 5 }, () => register(service.api)),
  )) as typeof accounts;
  room = await openGroup(service.api, ...accounts);
}, 30_000);

afterEach(endProcesses);

afterAll(async () => {
  await client?.end();
  await database?.drop();
});

/** A send that is stuck in the database until `finish` is called. */
async function slowSend(value: string) {
  await client.query('BEGIN');
  await client.query('SELECT FROM rooms WHERE id = $1 FOR UPDATE', [room]);
  const { token } = accounts[0];
  const params = { room };
  const reply = service.api.call('sendMessage', { token, params, body: text(value), expect: 201 });
  reply.catch(() => {});
  for (;;) {
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (rowCount) break;
  }
  return { reply, finish: () => client.query('COMMIT') };
}

test('SIGTERM: polls end at once with [], a slow send finishes, exit code 0', async () => {
  const { api } = service;
  const polls = accounts.flatMap(({ token }) =>
    Array.from({ length: 20 }, async () => {
      const query = { wait: 55 };
      const { body } = await api.call('readMailbox', { token, query, expect: 200 });
      return { body, at: performance.now() };
    }),
  );
  const send = await slowSend('on its way');

  const signalled = performance.now();
  service.signal('SIGTERM');
  for (const { body, at } of await Promise.all(polls)) {
    expect(body).toEqual([]);
    expect(at - signalled).toBeLessThan(2_000);
  }
  // Newcomers go elsewhere already.
  const newcomer = createApiClient(service.origin);
  await expect(newcomer.raw('GET', '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await send.finish();
  await send.reply;
  const answered = performance.now();
  // The client keeps its connections open, as clients do; they must not hold up the end.
  expect(await service.exited).toBe(0);
  expect(performance.now() - signalled).toBeLessThan(10_000);
  expect(performance.now() - answered).toBeLessThan(2_000);
  api.close();

  service = await startApiProcess({ DATABASE_URL: database.url });
  const history = await historyOf(service.api, accounts[0], room);
  expect(history.map(({ payload }) => payload)).toEqual([{ text: 'on its way' }]);
}, 30_000);

test('SIGTERM: sockets are told with 1001 to come back, and hold nothing up', async () => {
  const clients = await Promise.all(accounts.map((who) => listen(service, who, room)));
  // One that neither reads nor answers: it must not keep the process.
  const mute = await listen(service, accounts[0], room);
  mute.socket.pause();
  const send = await slowSend('on its way');
  const signalled = performance.now();
  service.signal('SIGTERM');
  for (const { closed } of clients) {
    const { code, at } = await closed;
    expect(code).toBe(1001);
    expect(at - signalled).toBeLessThan(2_000);
  }
  // The send still finishes.
  await send.finish();
  await send.reply;
  expect(await service.exited).toBe(0);
  expect(performance.now() - signalled).toBeLessThan(10_000);
  mute.socket.terminate();
  service.api.close();
}, 30_000);

test('a second SIGTERM ends it at once, whatever is still under way', async () => {
  const send = await slowSend('never answered');
  service.signal('SIGTERM');
  // The same signal within a second is npm's echo of a Ctrl+C, not a second wish.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const signalled = performance.now();
  service.signal('SIGTERM');
  expect(await service.exited).toBe(130);
  expect(performance.now() - signalled).toBeLessThan(1_000);
  await expect(send.reply).rejects.toThrow();
  await send.finish();
}, 30_000);
