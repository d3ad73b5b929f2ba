import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApi, type TestApi } from '@relayger/api/testing';
import {
  approvalOf,
  claimed,
  decided,
  endLease,
  expire,
  openScene,
  requested,
  type Scene,
} from './support.js';

let t: TestApi;
let scene: Scene;
beforeAll(async () => {
  t = await startTestApi();
  scene = await openScene(t);
});
afterAll(() => t.close());

async function states(): Promise<Record<string, number>> {
  const { rows } = await t.database.pool.query<{ state: string; count: string }>(
    'SELECT state, count(*) FROM approvals GROUP BY state',
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]));
}

test('several processes write down what has expired, more than one look takes, and nothing else', async () => {
  const gone = await requested(scene, await claimed(scene));
  await requested(scene, await claimed(scene));
  await decided(scene, await requested(scene, await claimed(scene)));
  // 250 tasks with an approval each, as copies of the first: the sweep takes 100 at a time.
  await t.database.pool.query(
    `WITH copy AS (SELECT gen_random_uuid() AS id FROM generate_series(1, 250)),
          task AS (
            INSERT INTO tasks (id, room_id, creator_id, client_task_id, fingerprint, assignee_id, root_id, depth, input)
            SELECT c.id, t.room_id, t.creator_id, c.id, t.fingerprint, t.assignee_id, c.id, 1, t.input
            FROM copy c, tasks t JOIN approvals a ON a.task_id = t.id WHERE a.id = $1 RETURNING id)
     INSERT INTO approvals (id, task_id, room_id, requester_id, approver_id, description, action, version, expires_in,
                            payload_hash, expires_at)
     SELECT gen_random_uuid(), task.id, a.room_id, a.requester_id, a.approver_id, a.description, a.action, a.version,
            a.expires_in, a.payload_hash, now() - interval '1 second'
     FROM task, approvals a WHERE a.id = $1`,
    [gone.id],
  );
  await expire(scene, gone);
  expect(await states()).toEqual({ pending: 252, approved: 1 });

  // Every process looks when it starts.
  const replicas = await Promise.all([t.replica(), t.replica()]);
  await until(async () => (await states()).pending === 1);
  expect(await states()).toEqual({ pending: 1, approved: 1, expired: 251 });
  await Promise.all(replicas.map((replica) => replica.close()));
});

test('a task that fails because nobody may claim it any more closes its approval', async () => {
  const lease = await claimed(scene);
  const made = await requested(scene, lease);
  await t.database.pool.query('UPDATE tasks SET attempts = 5 WHERE id = $1', [lease.taskId]);
  await endLease(scene, lease);
  const replica = await t.replica();
  await until(async () => (await approvalOf(scene, made.id)).state !== 'pending');
  await replica.close();
  expect((await approvalOf(scene, made.id)).state).toBe('closed');
});

/** Waits for what another process does in its own time; what is expected then says whether it came. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await holds()) && Date.now() < deadline) await sleep(20);
}
