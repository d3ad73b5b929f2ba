import { randomUUID } from 'node:crypto';
import { createLogger, Database, WakeHub, WakeTransport } from '@relayger/kernel';
import { createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import pg from 'pg';

// A NOTIFY carries less than 8000 bytes, which is about 170 topics.

let testDatabase: TestDatabase;
let listener: pg.Client;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  listener = new pg.Client({ connectionString: testDatabase.url });
  await listener.connect();
  await listener.query('LISTEN relayger_wake');
});

afterAll(async () => {
  for (const stop of stops) await stop();
  await listener.end();
  await testDatabase.drop();
});

/** Everything said until `marker`, which is woken last: PostgreSQL delivers notifications in commit order. */
async function heardUntil(marker: string, payloads: readonly string[]): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!payloads.some((payload) => payload.endsWith(marker)) && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

/** The part of a process that wakes and is woken. */
async function processOf(): Promise<WakeHub> {
  const log = createLogger('silent');
  const database = new Database({ url: testDatabase.url, pool: 2, log });
  const hub = new WakeHub();
  const transport = new WakeTransport(database, hub, log);
  await transport.start();
  stops.push(
    () => transport.stop(),
    () => database.close(),
  );
  return hub;
}

test('a wake of more topics than one notification holds reaches every one of them', async () => {
  const [here, there] = await Promise.all([processOf(), processOf()]);
  const topics = Array.from({ length: 700 }, () => `room:${randomUUID()}`);
  const waits = topics.map((topic) => {
    const waiter = there.waiter();
    waiter.add(topic);
    return waiter.wait(5_000);
  });
  const bystander = there.waiter();
  bystander.add(`room:${randomUUID()}`);
  const payloads: string[] = [];
  listener.on('notification', ({ payload = '' }) => payloads.push(payload));

  here.wake(topics);
  expect(new Set(await Promise.all(waits))).toEqual(new Set(['woken']));
  expect(await bystander.wait(0)).toBe('timeout');
  // Another listener may hear a notification before this one does.
  await heardUntil(topics.at(-1) as string, payloads);
  expect(payloads.length).toBeGreaterThan(3);
  for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
  const carried = payloads.flatMap((payload) => payload.split(' ').slice(1));
  expect(carried.sort()).toEqual(topics.sort());
});

test('topics that are woken many times within a moment travel once', async () => {
  const [here, there] = await Promise.all([processOf(), processOf()]);
  const topic = `room:${randomUUID()}`;
  const waiter = there.waiter();
  waiter.add(topic);
  const payloads: string[] = [];
  listener.on('notification', ({ payload = '' }) => payloads.push(payload));
  for (let i = 0; i < 1_000; i++) here.wake([topic]);
  expect(await waiter.wait(5_000)).toBe('woken');
  const marker = `room:${randomUUID()}`;
  here.wake([marker]);
  await heardUntil(marker, payloads);
  expect(payloads.filter((payload) => payload.endsWith(topic))).toHaveLength(1);
});
