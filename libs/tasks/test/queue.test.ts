import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { Task } from '@relayger/protocol';
import { crew, group, upTo } from './support.js';

const JOBS = 2_000;
const WORKERS = 16;

let t: TestApi;
let boss: TestAgent;
let worker: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [boss, worker] = (await crew(t, 2)) as [TestAgent, TestAgent];
  room = await group(t, boss, worker);
});
afterAll(() => t.close());

/** A queue that is there at once: two thousand requests are not what this is about. */
async function fillQueue(): Promise<void> {
  await t.database.pool.query(
    `INSERT INTO tasks (id, room_id, creator_id, client_task_id, fingerprint, assignee_id, root_id, depth, input,
                        tree_messages)
     SELECT id, $1, $2, gen_random_uuid(), sha256('x'), $3, id, 1,
            json_build_object('operation', 'echo', 'text', 'job ' || n), 1
     FROM (SELECT gen_random_uuid() AS id, n FROM generate_series(1, $4::int) AS n) AS new`,
    [room, boss.id, worker.id, JOBS],
  );
}

const post = (path: string, body: unknown) =>
  t.api.raw('POST', `/v1/tasks/${path}`, { token: worker.token, body });

interface Tally {
  claims: number;
}

/** Works until nothing can be claimed, or until it dies with a task in its hands. */
async function work(lifetime: number, tally: Tally): Promise<void> {
  for (let done = 0; ; ) {
    const { token } = worker;
    const listed = await t.api.raw('GET', '/v1/tasks?limit=50', { token, expect: 200 });
    const open = (listed.body as Task[]).filter(isFree);
    if (open.length === 0) return;
    // Each takes one at random, so that they seldom want the same, and looks again now and then.
    for (const { id } of open.sort(() => Math.random() - 0.5).slice(0, 8)) {
      const claimed = await post(`${id}/claim`, {});
      if (claimed.status === 409) continue;
      expect(claimed.status).toBe(200);
      tally.claims++;
      if (++done > lifetime) return;
      const { version, leaseOwner, input } = claimed.body as Task;
      const result = { text: (input as { text: string }).text };
      const body = { version, leaseOwner, state: 'completed', result };
      expect((await post(`${id}/update`, body)).status).toBe(200);
    }
  }
}

/** As a worker tells it: by the server's clock, which here is its own. */
const isFree = ({ state, leaseUntil = '' }: Task) =>
  state === 'queued' || (state === 'running' && Date.parse(leaseUntil) < Date.now());

test('sixteen workers, half of which die, complete every job of a queue exactly once', async () => {
  await fillQueue();
  const tally = { claims: 0 };
  const lifetimes = upTo(WORKERS).map((n) => (n % 2 ? Number.POSITIVE_INFINITY : 20 + n));
  const started = performance.now();
  await Promise.all(lifetimes.map((lifetime) => work(lifetime, tally)));
  const seconds = (performance.now() - started) / 1000;
  expect(seconds).toBeLessThan(120);

  // What the dead hold; on a slow machine the leases of some have ended by themselves.
  await t.database.pool.query("UPDATE tasks SET lease_until = now() WHERE state = 'running'");
  await Promise.all(upTo(4).map(() => work(Number.POSITIVE_INFINITY, tally)));

  const { rows } = await t.database.pool.query(
    `SELECT count(*)::int AS completed, sum(attempts)::int AS claims FROM tasks
     WHERE state = 'completed' AND result ->> 'text' = input ->> 'text'`,
  );
  expect(rows).toEqual([{ completed: JOBS, claims: JOBS + WORKERS / 2 }]);
  expect(tally.claims).toBe(JOBS + WORKERS / 2);
  const told = await t.database.pool.query(
    `SELECT count(*)::int AS events, count(DISTINCT payload ->> 'taskId')::int AS tasks FROM messages
     WHERE room_id = $1 AND type = 'result'`,
    [room],
  );
  expect(told.rows).toEqual([{ events: JOBS, tasks: JOBS }]);
}, 180_000);
