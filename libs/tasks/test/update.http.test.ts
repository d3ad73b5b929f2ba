import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import {
  cancel,
  claim,
  create,
  crew,
  DONE,
  events,
  get,
  group,
  type Held,
  later,
  order,
  refused,
  stored,
  under,
  update,
  upTo,
} from './support.js';

let t: TestApi;
let boss: TestAgent;
let worker: TestAgent;
let mate: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [boss, worker, mate] = (await crew(t, 3)) as [TestAgent, TestAgent, TestAgent];
  room = await group(t, boss, worker, mate);
});
afterAll(() => t.close());

const taken = async (): Promise<Held> =>
  claim(t, worker, await create(t, boss, order(room, worker)));
const why = (held: Held, body: unknown, status: number, who = worker) =>
  refused(t, who, 'updateTask', held, status, body);

/** Everything that a worker can write. */
const WRITES = [
  { state: 'running' },
  { state: 'running', progress: { percent: 50 } },
  { state: 'waiting_approval' },
  { state: 'completed', result: { text: 'late' } },
  { state: 'failed', error: 'late' },
] as const;

describe('a heartbeat', () => {
  test('renews the lease for thirty seconds, under a new version', async () => {
    const held = await taken();
    await later(t, held, 25);
    const renewed = await update(t, worker, held, { state: 'running' });
    expect(renewed).toMatchObject({ version: '3', state: 'running', attempts: 1 });
    const { leaseUntil = '', updatedAt } = renewed;
    expect((Date.parse(leaseUntil) - Date.parse(updatedAt)) / 1000).toBeCloseTo(30, 1);
    expect(await get(t, boss, held)).toEqual({ ...renewed, leaseOwner: undefined });
  });

  test('ten in a row keep a lease without a gap', async () => {
    let held = await taken();
    for (const beat of upTo(10)) {
      await later(t, held, 15);
      held = await update(t, worker, held, { state: 'running' });
      expect(held.version).toBe(String(2 + beat));
    }
    expect((await update(t, worker, held, DONE)).state).toBe('completed');
  });

  test('of two at the same version one is taken', async () => {
    const held = await taken();
    const body = under(held, { state: 'running' });
    const replies = await Promise.all(
      upTo(6).map(() =>
        t.api.raw('POST', `/v1/tasks/${held.id}/update`, { token: worker.token, body }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  });
});

describe('the fence', () => {
  test.each(WRITES)('lets nobody write whose lease has ended: %j', async (write) => {
    const held = await taken();
    await later(t, held, 30.001);
    const before = await stored(t, held);
    expect(await why(held, under(held, write), 409)).toBe('lease_lost');
    expect(await stored(t, held)).toEqual(before);
  });

  test.each(WRITES)('lets nobody write whose task was claimed again: %j', async (write) => {
    const held = await taken();
    await later(t, held);
    const next = await claim(t, worker, held);
    const before = await stored(t, held);
    expect(await why(held, under(held, write), 409)).toBe('lease_lost');
    // Not with the right version either.
    expect(await why(held, { ...under(held, write), version: next.version }, 409)).toBe(
      'lease_lost',
    );
    expect(await stored(t, held)).toEqual(before);
    expect((await update(t, worker, next, DONE)).result).toEqual({ text: 'done' });
  });

  test.each(WRITES)('lets nobody write under an old or a future version: %j', async (write) => {
    const held = await taken();
    const renewed = await update(t, worker, held, { state: 'running' });
    const before = await stored(t, held);
    for (const version of [held.version, '1', '99', '9223372036854775807']) {
      expect(await why(held, { ...under(renewed, write), version }, 409)).toBe('version_conflict');
    }
    expect(await stored(t, held)).toEqual(before);
  });

  test.each(WRITES)('lets nobody but the assignee write: %j', async (write) => {
    const held = await taken();
    const before = await stored(t, held);
    for (const who of [boss, mate]) {
      expect(await why(held, under(held, write), 403, who)).toBe('task_assignee_required');
    }
    const [stranger] = (await crew(t, 1)) as [TestAgent];
    expect(await why(held, under(held, write), 404, stranger)).toBe('not_found');
    expect(await stored(t, held)).toEqual(before);
  });

  test.each(WRITES)('lets nobody write to a task that was not claimed: %j', async (write) => {
    const task = await create(t, boss, order(room, worker));
    const guess = { ...task, leaseOwner: randomUUID() };
    expect(await why(guess, under(guess, write), 409)).toBe('lease_lost');
    expect(await stored(t, task)).toMatchObject({ state: 'queued', version: '1' });
  });

  test.each(WRITES)('lets nobody write to a finished task: %j', async (write) => {
    for (const end of ['complete', 'fail', 'cancel'] as const) {
      const held = await taken();
      if (end === 'complete') await update(t, worker, held, DONE);
      else if (end === 'fail') await update(t, worker, held, { state: 'failed', error: 'no' });
      else await cancel(t, boss, held);
      const before = await stored(t, held);
      expect(await why(held, under(held, write), 409)).toBe('task_finished');
      expect(await stored(t, held)).toEqual(before);
    }
  });
});

describe('completing', () => {
  test('stores the result and tells the room', async () => {
    const held = await taken();
    const result = { text: 'Fertig.', data: { words: 1 } };
    const done = await update(t, worker, held, { state: 'completed', result });
    expect(done).toMatchObject({ state: 'completed', result, version: '3' });
    expect(done).not.toHaveProperty('leaseUntil');
    const seen = await get(t, boss, held);
    expect(seen).toMatchObject({ state: 'completed', result });
    const [event] = (await events(t, boss, room, 'result')).slice(-1);
    expect(event).toMatchObject({
      sender: { id: worker.id },
      payload: { taskId: held.id, text: 'Fertig.' },
      rootTaskId: held.id,
    });
  });

  test('with a text whose event would not fit a frame is refused, and the task goes on', async () => {
    const held = await taken();
    const result = { text: '\u0001'.repeat(10_600) };
    const body = under(held, { state: 'completed', result });
    expect(await why(held, body, 400)).toBe('body.result.text');
    expect((await update(t, worker, held, DONE)).state).toBe('completed');
  });

  test('again with the same content is the same success, and one event', async () => {
    const held = await taken();
    const result = { text: 'twice', data: { a: 1, b: [2] } };
    const first = await update(t, worker, held, { state: 'completed', result });
    await later(t, held);
    const again = { text: 'twice', data: { b: [2], a: 1 } };
    const second = await update(t, worker, held, { state: 'completed', result: again });
    expect(second).toEqual(first);
    const told = (await events(t, boss, room, 'result')).filter(
      ({ payload }) => (payload as { taskId: string }).taskId === held.id,
    );
    expect(told).toHaveLength(1);
    for (const other of [
      { ...under(held, { state: 'completed', result: { text: 'else' } }) },
      { ...under(held, { state: 'completed', result }), version: '3' },
      { ...under(held, { state: 'completed', result }), leaseOwner: randomUUID() },
      { ...under(held, { state: 'failed', error: 'twice' }) },
    ]) {
      expect(await why(held, other, 409)).toBe('task_finished');
    }
    expect(await why(held, under(held, { state: 'completed', result }), 403, mate)).toBe(
      'task_assignee_required',
    );
  });

  test('ten times at once is one success, ten times told', async () => {
    const held = await taken();
    const body = under(held, { state: 'completed', result: { text: 'burst' } });
    const replies = await Promise.all(
      upTo(10).map(() =>
        t.api.raw('POST', `/v1/tasks/${held.id}/update`, { token: worker.token, body }),
      ),
    );
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]?.status).toBe(200);
    const told = (await events(t, boss, room, 'result')).filter(
      ({ payload }) => (payload as { text: string }).text === 'burst',
    );
    expect(told).toHaveLength(1);
  });

  test('races with a claim at the end of the lease, and one of them wins', async () => {
    for (const _ of upTo(10)) {
      const held = await taken();
      // The lease ends while both calls are under way.
      await later(t, held, 29.99);
      const body = under(held, DONE);
      const [finish, next] = await Promise.all([
        t.api.raw('POST', `/v1/tasks/${held.id}/update`, { token: worker.token, body }),
        t.api.raw('POST', `/v1/tasks/${held.id}/claim`, { token: worker.token, body: {} }),
      ]);
      const { state, result } = await get(t, boss, held);
      if (finish.status === 200) expect([next.status, state]).toEqual([409, 'completed']);
      else expect([finish.status, state, result]).toEqual([409, 'running', undefined]);
    }
  });
});

describe('failing', () => {
  test('stores why, and tells it to whoever reads the task', async () => {
    const held = await taken();
    const failed = await update(t, worker, held, { state: 'failed', error: 'No such language' });
    expect(failed).toMatchObject({ state: 'failed', error: 'No such language' });
    expect(failed).not.toHaveProperty('result');
    expect(await get(t, boss, held)).toMatchObject({ state: 'failed', error: 'No such language' });
    const told = (await events(t, boss, room, 'result')).filter(
      ({ payload }) => (payload as { taskId: string }).taskId === held.id,
    );
    expect(told).toHaveLength(0);
    const again = await update(t, worker, held, { state: 'failed', error: 'No such language' });
    expect(again).toEqual(failed);
  });
});

describe('an update that says too little or too much is refused', () => {
  const lease = { version: '2', leaseOwner: randomUUID() };
  test.each([
    ['no lease', { state: 'running' }, 'body.version'],
    ['a version that is a number', { ...lease, version: 2, state: 'running' }, 'body.version'],
    ['a version with a sign', { ...lease, version: '-1', state: 'running' }, 'body.version'],
    [
      'an owner that is no UUID',
      { ...lease, leaseOwner: 'me', state: 'running' },
      'body.leaseOwner',
    ],
    ['no state', lease, 'body.state'],
    ['a state that only the server sets', { ...lease, state: 'cancelled' }, 'body.state'],
    ['a state that was before', { ...lease, state: 'queued' }, 'body.state'],
    ['a completion without result', { ...lease, state: 'completed' }, 'body.result'],
    [
      'a result without text',
      { ...lease, state: 'completed', result: { data: {} } },
      'body.result.text',
    ],
    ['an empty result', { ...lease, state: 'completed', result: { text: '' } }, 'body.result.text'],
    [
      'a long result',
      { ...lease, state: 'completed', result: { text: 'x'.repeat(16_001) } },
      'body.result.text',
    ],
    [
      'result data above 32 KiB',
      { ...lease, state: 'completed', result: { text: 'x', data: { a: 'x'.repeat(32_768) } } },
      'body.result.data',
    ],
    [
      'result data that is no object',
      { ...lease, state: 'completed', result: { text: 'x', data: [] } },
      'body.result.data',
    ],
    [
      'an error with a completion',
      { ...lease, state: 'completed', result: { text: 'x' }, error: 'x' },
      'body',
    ],
    ['a failure without error', { ...lease, state: 'failed' }, 'body.error'],
    ['an empty error', { ...lease, state: 'failed', error: '' }, 'body.error'],
    [
      'an error above 2000 bytes',
      { ...lease, state: 'failed', error: 'é'.repeat(1001) },
      'body.error',
    ],
    [
      'a result with a failure',
      { ...lease, state: 'failed', error: 'x', result: { text: 'x' } },
      'body',
    ],
    [
      'progress with a wait',
      { ...lease, state: 'waiting_approval', progress: { percent: 1 } },
      'body',
    ],
    ['progress that says nothing', { ...lease, state: 'running', progress: {} }, 'body.progress'],
    [
      'more than all',
      { ...lease, state: 'running', progress: { percent: 101 } },
      'body.progress.percent',
    ],
    [
      'less than nothing',
      { ...lease, state: 'running', progress: { percent: -1 } },
      'body.progress.percent',
    ],
    [
      'percent as text',
      { ...lease, state: 'running', progress: { percent: '5' } },
      'body.progress.percent',
    ],
    [
      'a note above 500 bytes',
      { ...lease, state: 'running', progress: { note: 'é'.repeat(251) } },
      'body.progress.note',
    ],
    [
      'a time of its own',
      { ...lease, state: 'running', progress: { percent: 1, at: '2026-01-01T00:00:00Z' } },
      'body.progress',
    ],
  ])('%s', async (_, body, path) => {
    const held = await taken();
    expect(await why(held, body, 400)).toBe(path);
  });
});

describe('progress', () => {
  test('is kept on the task, renews the lease and is told to the room', async () => {
    const held = await taken();
    await later(t, held, 25);
    const note = `${'é'.repeat(249)}x\n`;
    const told = await update(t, worker, held, {
      state: 'running',
      progress: { percent: 42.5, note },
    });
    expect(told.progress).toEqual({ percent: 42.5, note, at: told.updatedAt });
    expect(Date.parse(told.leaseUntil ?? '') - Date.parse(told.updatedAt)).toBeGreaterThan(29_000);
    const [event] = (await events(t, boss, room, 'progress')).slice(-1);
    expect(event).toMatchObject({
      sender: { id: worker.id },
      payload: { taskId: held.id, percent: 42.5, note },
    });
    // The latest report replaces the one before; a heartbeat leaves it.
    const next = await update(t, worker, told, { state: 'running', progress: { percent: 0 } });
    expect(next.progress).toEqual({ percent: 0, at: next.updatedAt });
    const beat = await update(t, worker, next, { state: 'running' });
    expect(beat.progress).toEqual(next.progress);
    expect((await update(t, worker, beat, DONE)).progress).toEqual(next.progress);
  });

  test('in a burst of ten is told once, and again two seconds later', async () => {
    let held = await taken();
    const count = async () =>
      (await events(t, boss, room, 'progress')).filter(
        ({ payload }) => (payload as { taskId: string }).taskId === held.id,
      ).length;
    for (const n of upTo(10)) {
      held = await update(t, worker, held, { state: 'running', progress: { percent: n } });
      // However slow the machine is: between two reports no time has passed.
      await t.database.pool.query(
        'UPDATE tasks SET progress_event_at = now() WHERE id = $1 AND progress_event_at IS NOT NULL',
        [held.id],
      );
    }
    expect(await count()).toBe(1);
    expect((await get(t, boss, held)).progress).toMatchObject({ percent: 10 });
    await later(t, held, 1.9);
    held = await update(t, worker, held, { state: 'running', progress: { percent: 11 } });
    await later(t, held, 0.2);
    held = await update(t, worker, held, { state: 'running', progress: { percent: 12 } });
    expect(await count()).toBe(2);
  });

  test('is never pending in a mailbox and outside the budget of the root', async () => {
    const held = await taken();
    const before = await stored(t, held);
    await update(t, worker, held, { state: 'running', progress: { note: 'halfway' } });
    expect((await stored(t, held)).tree_messages).toBe(before.tree_messages);
    const query = { limit: 100 };
    const { body } = await t.api.call('readMailbox', { token: boss.token, query, expect: 200 });
    expect(body.some(({ type }) => type === 'progress')).toBe(false);
  });
});
