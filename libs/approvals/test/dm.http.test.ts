import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApi, type TestApi, textMessage } from '@relayger/api/testing';
import type { Receipt } from '@relayger/protocol';
import {
  approvalOf,
  asking,
  claimed,
  crowd,
  newReviewer,
  outcome,
  requested,
  type Scene,
  tryDecide,
  tryRequest,
} from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

/** The worker and the person alone; the person gives the work. */
async function openDm(): Promise<Scene> {
  const [worker] = await crowd(t, 1);
  const reviewer = await newReviewer(t);
  if (!worker) throw new Error('no worker');
  await t.befriend(worker, reviewer);
  const opened = await t.api.call('sendDirect', {
    token: worker.token,
    body: { target: reviewer.number, message: textMessage('hello') },
    expect: 201,
  });
  const { room } = opened.body as Receipt;
  return { t, room, coordinator: reviewer, worker, reviewer };
}

const act = ({ worker, reviewer }: Scene, verb: 'block' | 'unblock' | 'remove') =>
  t.api.call(`${verb}Contact` as const, {
    token: reviewer.token,
    params: { address: worker.id },
    body: {},
    expect: 200,
  });

test('in a direct conversation a block hides the approval, and its end does not', async () => {
  const scene = await openDm();
  const made = await requested(scene, await claimed(scene));
  const path = `/v1/approvals/${made.id}`;
  await act(scene, 'block');
  for (const { token } of [scene.worker, scene.reviewer]) {
    expect(outcome(await t.api.raw('GET', path, { token }))).toBe('404 not_found');
    expect((await t.api.call('listApprovals', { token, expect: 200 })).body).toEqual([]);
  }
  expect(await tryDecide(scene, scene.reviewer.token, made)).toBe('404 not_found');
  await act(scene, 'unblock');
  expect((await approvalOf(scene, made.id)).state).toBe('pending');
});

test('who is no contact any more decides only after the contact was accepted again', async () => {
  const scene = await openDm();
  const lease = await claimed(scene);
  const made = await requested(scene, lease);
  await act(scene, 'remove');
  expect((await approvalOf(scene, made.id)).state).toBe('pending');
  expect(await tryDecide(scene, scene.reviewer.token, made)).toBe('403 contact_required');
  expect(await tryRequest(scene, asking(scene, lease))).toBe('403 contact_required');
  await t.befriend(scene.reviewer, scene.worker);
  expect(await tryDecide(scene, scene.reviewer.token, made)).toBe('200');
});

test.each([
  ['block', '403 contact_unavailable'],
  ['remove', '403 contact_required'],
] as const)(
  'a %s that comes first undoes a request and a decision under way',
  async (verb, refusal) => {
    for (const call of ['request', 'decide'] as const) {
      const scene = await openDm();
      const lease = await claimed(scene);
      const made = call === 'decide' ? await requested(scene, lease) : null;
      const client = await t.database.pool.connect();
      let running: Promise<string>;
      try {
        // Whoever changes something about the task waits, after having looked at who may do so.
        await client.query('BEGIN');
        await client.query('SELECT FROM tasks WHERE id = $1 FOR UPDATE', [lease.taskId]);
        running = made
          ? tryDecide(scene, scene.reviewer.token, made)
          : tryRequest(scene, asking(scene, lease));
        await waitingFor('tasks');
        await act(scene, verb);
        await client.query('COMMIT');
      } finally {
        client.release();
      }
      expect(await running).toBe(refusal);
      const { rows } = await t.database.pool.query(
        'SELECT state FROM approvals WHERE task_id = $1',
        [lease.taskId],
      );
      expect(rows).toEqual(made ? [{ state: 'pending' }] : []);
    }
  },
);

/** Resolves once a statement of the service waits for a row of this table. */
async function waitingFor(table: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (Date.now() < deadline) {
    const { rows } = await t.database.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND query LIKE '%FROM ' || $1 || '%'`,
      [table],
    );
    if (rows.length > 0) return;
    await sleep(10);
  }
  throw new Error(`nothing waits for ${table}`);
}
