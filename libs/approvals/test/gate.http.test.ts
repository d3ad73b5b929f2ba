import { startTestApi, type TestApi } from '@relayger/api/testing';
import {
  approvalOf,
  asking,
  claim,
  claimed,
  decided,
  endLease,
  expire,
  history,
  type Lease,
  openScene,
  requested,
  type Scene,
  tryDecide,
  tryRequest,
  tryUpdate,
} from './support.js';

let t: TestApi;
let scene: Scene;
beforeAll(async () => {
  t = await startTestApi();
  scene = await openScene(t);
});
afterAll(() => t.close());

type Step = 'approve' | 'reject' | 'expire' | 'pending';

/** A claimed task after these requests, one after the other, and what became of each. */
async function after(steps: readonly Step[]): Promise<Lease> {
  const lease = await claimed(scene);
  for (const [n, step] of steps.entries()) {
    const made = await requested(scene, lease, { description: `request ${n} of this task` });
    if (step === 'expire') await expire(scene, made);
    else if (step !== 'pending') await decided(scene, made, step);
  }
  return lease;
}

// Whether the task may wait, and whether it may be completed.
test.each<[Step[], string, string]>([
  [[], '409 approval_required', '200'],
  [['pending'], '200', '409 approval_pending'],
  [['approve'], '409 approval_required', '200'],
  [['reject'], '409 approval_required', '409 approval_pending'],
  [['expire'], '409 approval_required', '200'],
  [['reject', 'pending'], '200', '409 approval_pending'],
  [['reject', 'approve'], '409 approval_required', '200'],
  [['reject', 'expire'], '409 approval_required', '409 approval_pending'],
  [['approve', 'pending'], '200', '409 approval_pending'],
  [['approve', 'reject'], '409 approval_required', '409 approval_pending'],
  [['approve', 'expire'], '409 approval_required', '200'],
  [['reject', 'expire', 'approve'], '409 approval_required', '200'],
])('after %j waiting answers %s and completing %s', async (steps, waits, completes) => {
  const lease = await after(steps);
  const waiting = await tryUpdate(scene, lease, 'waiting_approval');
  expect(waiting.outcome).toBe(waits);
  const completed = await tryUpdate(scene, waiting.lease, 'completed');
  expect(completed.outcome).toBe(completes);
});

test('a task may fail whatever was decided or is pending', async () => {
  for (const steps of [['pending'], ['reject']] as const)
    expect((await tryUpdate(scene, await after(steps), 'failed')).outcome).toBe('200');
});

test('nothing is executed by a decision: the task stays as it is until its agent completes it', async () => {
  const { worker, reviewer, room } = scene;
  const lease = await claimed(scene);
  const made = await requested(scene, lease);
  const { lease: waiting } = await tryUpdate(scene, lease, 'waiting_approval');
  const read = () =>
    t.api.call('getTask', { token: worker.token, params: { id: lease.taskId }, expect: 200 });
  const before = (await read()).body;
  expect(before.state).toBe('waiting_approval');
  await decided(scene, made);
  expect((await read()).body).toEqual(before);
  expect((await history(scene, reviewer, room)).at(-1)?.type).toBe('approval_decision');
  expect((await tryUpdate(scene, waiting, 'completed')).outcome).toBe('200');
});

test('a decision counts although the lease was renewed or taken again since the request', async () => {
  const { worker, reviewer } = scene;
  const renewed = await claimed(scene);
  const first = await requested(scene, renewed);
  await tryUpdate(scene, renewed, 'running');
  expect(await tryDecide(scene, reviewer.token, first)).toBe('200');

  const lost = await claimed(scene);
  const second = await requested(scene, lost);
  await endLease(scene, lost);
  const again = await claim(t, worker, lost.taskId);
  expect((await tryUpdate(scene, again, 'completed')).outcome).toBe('409 approval_pending');
  expect(await tryDecide(scene, reviewer.token, second)).toBe('200');
  expect((await tryUpdate(scene, again, 'completed')).outcome).toBe('200');
});

test.each(['failed', 'cancelled'] as const)(
  'a task that is %s closes what is pending: nothing is left to decide',
  async (end) => {
    const { coordinator, reviewer } = scene;
    const lease = await claimed(scene);
    const made = await requested(scene, lease);
    if (end === 'failed') await tryUpdate(scene, lease, 'failed');
    else
      await t.api.call('cancelTask', {
        token: coordinator.token,
        params: { id: lease.taskId },
        body: {},
        expect: 200,
      });
    expect((await approvalOf(scene, made.id)).state).toBe('closed');
    expect(await tryDecide(scene, reviewer.token, made)).toBe('409 approval_closed');
    expect(await tryRequest(scene, asking(scene, lease))).toBe('409 task_finished');
  },
);

test('what was decided or had expired before the task ended stays so', async () => {
  const lease = await claimed(scene);
  const first = await requested(scene, lease);
  await decided(scene, first);
  const second = await requested(scene, lease);
  await expire(scene, second);
  expect((await tryUpdate(scene, lease, 'completed')).outcome).toBe('200');
  expect((await approvalOf(scene, first.id)).state).toBe('approved');
  expect((await approvalOf(scene, second.id)).state).toBe('expired');
});

test('completion and rejection at the same moment: the task is never completed after it was rejected', async () => {
  for (let round = 0; round < 15; round++) {
    const lease = await claimed(scene);
    const made = await requested(scene, lease);
    const [completed, rejected] = await Promise.all([
      tryUpdate(scene, lease, 'completed'),
      tryDecide(scene, scene.reviewer.token, made, 'reject'),
    ]);
    expect(completed.outcome).toBe('409 approval_pending');
    expect(rejected).toBe('200');
  }
});

test('completing and asking at the same moment: a task is not completed while somebody is asked', async () => {
  for (let round = 0; round < 15; round++) {
    const lease = await claimed(scene);
    const [completed, asked] = await Promise.all([
      tryUpdate(scene, lease, 'completed'),
      tryRequest(scene, asking(scene, lease)),
    ]);
    expect([completed.outcome, asked]).toEqual(
      asked === '201' ? ['409 approval_pending', '201'] : ['200', '409 task_finished'],
    );
  }
});

test('cancelling and deciding at the same moment: either the decision stands or there was none', async () => {
  const { coordinator, reviewer } = scene;
  for (let round = 0; round < 15; round++) {
    const lease = await claimed(scene);
    const made = await requested(scene, lease);
    const params = { id: lease.taskId };
    const [decision] = await Promise.all([
      tryDecide(scene, reviewer.token, made),
      t.api.call('cancelTask', { token: coordinator.token, params, body: {}, expect: 200 }),
    ]);
    const { state } = await approvalOf(scene, made.id);
    expect([decision, state]).toEqual(
      decision === '200' ? ['200', 'approved'] : ['409 approval_closed', 'closed'],
    );
  }
});

test('approval events count among the messages of the root task, and are never refused for it', async () => {
  const lease = await claimed(scene);
  const counted = async () => {
    const { rows } = await t.database.pool.query('SELECT tree_messages FROM tasks WHERE id = $1', [
      lease.taskId,
    ]);
    return rows[0].tree_messages as number;
  };
  const before = await counted();
  const made = await requested(scene, lease);
  expect(await counted()).toBe(before + 1);
  await t.database.pool.query('UPDATE tasks SET tree_messages = 128 WHERE id = $1', [lease.taskId]);
  await decided(scene, made);
  expect(await counted()).toBe(129);
});
