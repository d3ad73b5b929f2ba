import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { Task } from '@relayger/protocol';
import {
  claim,
  create,
  crew,
  custom,
  DONE,
  get,
  group,
  inbox,
  later,
  order,
  refused,
  stored,
  under,
  until,
  update,
  upTo,
} from './support.js';

let t: TestApi;
let replicas: Awaited<ReturnType<TestApi['replica']>>[];
let boss: TestAgent;
let worker: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  // Three processes sweep the same tasks.
  replicas = await Promise.all([t.replica(), t.replica()]);
  [boss, worker] = (await crew(t, 2)) as [TestAgent, TestAgent];
  room = await group(t, boss, worker);
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
  await t.close();
});

const soon = () => new Date(Date.now() + 3_600_000).toISOString();
const ended = (task: Task) =>
  until(`the end of ${task.id}`, async () => (await get(t, boss, task)).state === 'failed');

test('a task whose fifth lease has ended fails, with the reason', async () => {
  const task = await create(t, boss, order(room, worker));
  let held = await claim(t, worker, task);
  for (const _ of upTo(4)) {
    await later(t, task);
    held = await claim(t, worker, task);
  }
  expect(held.attempts).toBe(5);
  await later(t, task, 20);
  // The last lease is as good as the first one while it lasts.
  held = await update(t, worker, held, { state: 'running' });
  await later(t, task);
  await ended(task);
  const seen = await get(t, boss, task);
  expect(seen).toMatchObject({ state: 'failed', attempts: 5, version: '8' });
  expect(seen.error).toMatch(/last lease ended without a result/);
  expect(await refused(t, worker, 'claimTask', task, 409)).toBe('task_not_claimable');
  expect(await refused(t, worker, 'updateTask', task, 409, under(held, DONE))).toBe(
    'task_finished',
  );
  expect((await stored(t, task)).version).toBe('8');
});

test('a task that nobody claimed before its deadline fails, with the reason', async () => {
  const task = await create(t, boss, custom(room, worker, { deadline: soon() }));
  await later(t, task, 3_700);
  await ended(task);
  expect((await get(t, boss, task)).error).toMatch(/deadline passed before it was claimed/);
});

test('a task whose lease ended after its deadline fails, with the reason', async () => {
  const task = await create(t, boss, custom(room, worker, { deadline: soon() }));
  const held = await claim(t, worker, task);
  await later(t, task, 3_700);
  await ended(task);
  expect((await get(t, boss, task)).error).toMatch(/lease ended after the deadline/);
  expect(await refused(t, worker, 'updateTask', task, 409, under(held, DONE))).toBe(
    'task_finished',
  );
});

test('many at once fail exactly once each, and nothing else does', async () => {
  const due = await Promise.all(
    upTo(120).map(() => create(t, boss, custom(room, worker, { deadline: soon() }))),
  );
  const kept = await create(t, boss, order(room, worker));
  const lapsed = await claim(t, worker, await create(t, boss, order(room, worker)));
  const leased = await claim(
    t,
    worker,
    await create(t, boss, custom(room, worker, { deadline: soon() })),
  );
  await later(t, lapsed);
  await t.database.pool.query(
    "UPDATE tasks SET deadline = now() - interval '1 s' WHERE id = ANY ($1)",
    [[...due.map(({ id }) => id), leased.id]],
  );
  await until('the end of all', async () => {
    const { rows } = await t.database.pool.query(
      "SELECT count(*)::int AS open FROM tasks WHERE state <> 'failed' AND id = ANY ($1)",
      [due.map(({ id }) => id)],
    );
    return rows[0]?.open === 0;
  });
  const { rows } = await t.database.pool.query(
    'SELECT DISTINCT version, attempts FROM tasks WHERE id = ANY ($1)',
    [due.map(({ id }) => id)],
  );
  expect(rows).toEqual([{ version: '2', attempts: 0 }]);
  expect((await get(t, boss, kept)).state).toBe('queued');
  expect((await get(t, boss, lapsed)).state).toBe('running');
  expect((await get(t, boss, leased)).state).toBe('running');
  const open = (await inbox(t, worker)).map(({ id }) => id);
  expect(open.slice(0, 2).sort()).toEqual([kept.id, lapsed.id].sort());
});
