import { request } from 'node:http';
import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { crowd, drain, group, mailbox, parked, send, upTo } from './support.js';

/** libs/messages/src/mailbox.service.ts, WAITS_PER_IDENTITY. */
const WAITS = 32;

let t: TestApi;
let alice: TestAgent;

beforeAll(async () => {
  // The smallest pool there can be: a wait that held a connection would stop everything at the second one.
  t = await startTestApi({ DATABASE_POOL: '2' });
  alice = await t.agent('alice');
});
afterAll(() => t.close());

const busyConnections = async () => {
  const { rows } = await t.database.pool.query(
    `SELECT count(*)::int AS busy FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`,
  );
  return rows[0].busy as number;
};

test('200 waits on two connections: sends go on, and everybody gets the mail', async () => {
  const waiters = await crowd(t, 10);
  const quiet = await group(t, alice, ...waiters);
  const busy = await group(t, alice, await t.agent());
  const waits = waiters.flatMap((who) => upTo(20).map(() => mailbox(t, who, { wait: 30 })));
  await parked();
  let open = waits.length;
  for (const wait of waits) void wait.finally(() => open--);

  const latencies = [];
  for (const _ of upTo(100)) {
    const started = performance.now();
    await send(t, alice, busy);
    latencies.push(performance.now() - started);
  }
  latencies.sort((a, b) => a - b);
  expect(latencies[94]).toBeLessThan(1_000);
  expect(open).toBe(200);
  expect(await busyConnections()).toBe(0);

  const { id } = await send(t, alice, quiet);
  for (const { items } of await Promise.all(waits)) expect(items).toMatchObject([{ id }]);
  for (const who of waiters) await drain(t, who);
});

/** Waits as one identity until `stop`. */
function hold(who: TestAgent, count: number) {
  const stop = new AbortController();
  const waits = upTo(count).map(() =>
    mailbox(t, who, { wait: 30 }, stop.signal).catch((error: unknown) => error),
  );
  return { stop: () => stop.abort(), ended: Promise.all(waits) };
}

/** Resolves once the identity may wait again. */
async function maySoonWait(who: TestAgent): Promise<void> {
  for (const deadline = performance.now() + 5_000; ; ) {
    const path = '/v1/mailbox?wait=1';
    const { status } = await t.api.raw('GET', path, { token: who.token });
    if (status === 200) return;
    expect(status).toBe(429);
    expect(performance.now()).toBeLessThan(deadline);
  }
}

test('too many waits of one identity are refused at once, and others are not affected', async () => {
  const bob = await t.agent();
  const { stop, ended } = hold(bob, WAITS);
  await parked();
  const { token } = bob;
  const reply = await t.api.call('readMailbox', { token, query: { wait: 5 }, expect: 429 });
  expect(reply.body.error.code).toBe('too_many_waits');
  expect(reply.headers['retry-after']).toBe('1');
  // A look without waiting is always possible.
  await mailbox(t, bob);
  const { ms } = await mailbox(t, alice, { wait: 1 });
  expect(ms).toBeGreaterThanOrEqual(990);
  stop();
  await ended;
  await maySoonWait(bob);
});

test('waits that end normally make room again', async () => {
  const bob = await t.agent();
  for (const _ of upTo(2)) {
    const waits = upTo(WAITS).map(() => mailbox(t, bob, { wait: 1 }));
    for (const { items } of await Promise.all(waits)) expect(items).toEqual([]);
  }
});

test('a client that hangs up while it waits frees its place', async () => {
  const bob = await t.agent();
  for (const _ of upTo(2)) {
    const { stop, ended } = hold(bob, WAITS);
    await parked();
    stop();
    await ended;
    await maySoonWait(bob);
  }
});

test('a client that hangs up before the server has looked at its request frees its place', async () => {
  const bob = await t.agent();
  const { hostname, port } = new URL(t.origin);
  const headers = { authorization: `Bearer ${bob.token}` };
  const hangUp = () =>
    new Promise<void>((resolve) => {
      const call = request({ hostname, port, path: '/v1/mailbox?wait=30', headers, agent: false });
      call.on('error', () => {});
      call.on('close', resolve);
      call.on('finish', () => call.destroy());
      call.end();
    });
  for (const _ of upTo(3)) await Promise.all(upTo(WAITS).map(hangUp));
  // The requests are still on their way through the guard when their sockets are gone already.
  await parked();
  await maySoonWait(bob);
});

test('a wait whose client has hung up consumes nothing afterwards', async () => {
  const bob = await t.agent();
  const room = await group(t, alice, bob);
  const stop = new AbortController();
  const wait = mailbox(t, bob, { wait: 30, consume: '1' }, stop.signal).catch(() => 'gone');
  await parked();
  stop.abort();
  expect(await wait).toBe('gone');
  await maySoonWait(bob);
  const { id } = await send(t, alice, room);
  expect((await drain(t, bob)).map((item) => item.id)).toEqual([id]);
});
