import { randomUUID } from 'node:crypto';
import {
  disable,
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
  type TestHuman,
} from '@relayger/api/testing';
import { POLICY_DEFAULTS, type RuntimeMetadata, type TaskMetadata } from '@relayger/protocol';
import { MINUTE, owned, ownedOne, roomOf, runtimeOf, seedAttempt, WEEK } from './work-support.js';

let t: TestApi;
let owner: TestHuman;
let boss: TestAgent;
let agent: TestAgent;
let sibling: TestAgent;
beforeAll(async () => {
  t = await startTestApi();
  owner = await registerHuman(t);
  boss = await t.agent();
  [agent, sibling] = (await owned(t, owner, 2)) as [TestAgent, TestAgent];
});
afterAll(() => t.close());

async function taskOf(taskId: string, { id } = agent): Promise<TaskMetadata> {
  const params = { id, taskId };
  return (await t.api.call('getAgentTask', { token: owner.token, params, expect: 200 })).body;
}

async function runtimeAt(runtimeId: string, { id } = agent): Promise<RuntimeMetadata> {
  const params = { id, runtimeId };
  return (await t.api.call('getAgentRuntime', { token: owner.token, params, expect: 200 })).body;
}

/** A task that the boss gives to an agent. */
async function give(assignee: TestAgent, deadline?: string) {
  const roomId = await roomOf(t, boss);
  const params = { room: roomId, identity: assignee.id };
  await t.api.call('addMember', { token: boss.token, params, expect: 201 });
  const input = { operation: 'custom' as const, kind: 'translate.v1', title: 'Translate' };
  const body = {
    ...{ roomId, assigneeId: assignee.id, clientTaskId: randomUUID() },
    input: { ...input, ...(deadline && { deadline }) },
  };
  return (await t.api.call('createTask', { token: boss.token, body, expect: 201 })).body;
}

test('a task is shown in every state, without what it is about', async () => {
  const deadline = new Date(Date.now() + 60 * MINUTE).toISOString();
  const task = await give(agent, deadline);
  const { id, roomId, createdAt } = task;
  const queued = {
    ...{ id, roomId, creatorId: boss.id, assigneeId: agent.id, parentTaskId: null },
    ...{ rootTaskId: id, depth: 1, operation: 'custom', state: 'queued', version: '1' },
    ...{ attempts: 0, percent: null, leaseUntil: null, deadline },
    ...{ createdAt, updatedAt: createdAt, finishedAt: null },
  };
  expect(await taskOf(id)).toEqual(queued);
  const call = { token: agent.token, params: { id }, expect: 200 as const };
  const held = (await t.api.call('claimTask', { ...call, body: {} })).body;
  const lease = { version: held.version, leaseOwner: held.leaseOwner as string };
  const running = (
    await t.api.call('updateTask', {
      ...call,
      body: { ...lease, state: 'running', progress: { percent: 12.5, note: 'nearly' } },
    })
  ).body;
  const inWork = {
    ...{ state: 'running', version: running.version, attempts: 1, percent: 12.5 },
    ...{ leaseUntil: running.leaseUntil, updatedAt: running.updatedAt },
  };
  expect(await taskOf(id)).toEqual({ ...queued, ...inWork });
  const failed = (
    await t.api.call('updateTask', {
      ...call,
      body: {
        ...{ ...lease, version: running.version, state: 'failed', error: 'The page is gone' },
      },
    })
  ).body;
  expect(await taskOf(id)).toEqual({
    ...{ ...queued, ...inWork, state: 'failed', version: failed.version, leaseUntil: null },
    ...{ updatedAt: failed.updatedAt, finishedAt: failed.updatedAt },
  });
});

test('a subtask names the tree that it is in', async () => {
  const root = await give(agent);
  const call = { token: agent.token, params: { id: root.id }, body: {}, expect: 200 as const };
  const held = (await t.api.call('claimTask', call)).body;
  const params = { room: root.roomId, identity: sibling.id };
  await t.api.call('addMember', { token: boss.token, params, expect: 201 });
  const body = {
    ...{ roomId: root.roomId, assigneeId: sibling.id, clientTaskId: randomUUID() },
    ...{ parentTaskId: root.id, parentVersion: held.version },
    parentLeaseOwner: held.leaseOwner as string,
    input: { operation: 'sum' as const, values: [1, 2] },
  };
  const { id } = (await t.api.call('createTask', { token: agent.token, body, expect: 201 })).body;
  expect(await taskOf(id, sibling)).toMatchObject({
    ...{ parentTaskId: root.id, rootTaskId: root.id, depth: 2, operation: 'sum' },
    ...{ creatorId: agent.id, deadline: null },
  });
  // It is not the creator's.
  const refused = {
    token: owner.token,
    params: { id: agent.id, taskId: id },
    expect: 404 as const,
  };
  expect((await t.api.call('getAgentTask', refused)).body.error.code).toBe('not_found');
});

test('a runtime is shown with its policy and numbers', async () => {
  const policy = {
    ...{ triggers: ['direct' as const], allowedSenders: [boss.id], allowedRooms: [] },
    ...{ maxAttempts: 2, maxCallsPerHour: 7, concurrency: 3, activeHoursUTC: [8, 9] },
  };
  const body = { name: 'reply-worker', from: 'beginning' as const, policy };
  const made = await t.api.call('registerRuntime', { token: agent.token, body, expect: 201 });
  const nothing = {
    claims: 0,
    jobs: { pending: 0, leased: 0, handled: 0, skipped: 0, deadLetter: 0 },
    windowDays: 7,
    attempts: { total: 0, handled: 0, skipped: 0, failed: 0, unfinished: 0 },
    usage: { modelCalls: 0, inputTokens: 0, outputTokens: 0, unreported: 0 },
    processingMs: null,
  };
  const { id } = made.body;
  expect(await runtimeAt(id)).toEqual({ ...made.body, ...nothing });

  const other = await runtimeOf(t, agent, 'another');
  await seedAttempt(t, other, { at: MINUTE, outcome: 'handled' });
  const inside = { at: WEEK - MINUTE, outcome: 'handled', usage: [1, 2, 3], took: 40 } as const;
  await seedAttempt(t, id, inside);
  await seedAttempt(t, id, { ...inside, outcome: 'skipped', usage: null, took: 20 });
  await seedAttempt(t, id, { ...inside, at: WEEK + MINUTE });
  await seedAttempt(t, id, { at: MINUTE, outcome: 'failed', state: 'pending' });
  const held = await seedAttempt(t, id, { at: 1, state: 'leased' });
  await seedAttempt(t, id, { at: MINUTE, outcome: 'failed' });
  await t.database.pool.query('UPDATE runtimes SET claims = 6 WHERE id = $1', [id]);
  const numbers = {
    claims: 6,
    jobs: { pending: 1, leased: 1, handled: 2, skipped: 1, deadLetter: 1 },
    attempts: { total: 5, handled: 1, skipped: 1, failed: 2, unfinished: 1 },
    usage: { modelCalls: 1, inputTokens: 2, outputTokens: 3, unreported: 3 },
  };
  const read = await runtimeAt(id);
  expect(read).toMatchObject({ ...made.body, ...numbers });
  expect(read.processingMs).toMatchObject({ count: 4 });
  const past = (attempts: number) =>
    t.database.pool.query(
      "UPDATE runtime_deliveries SET due_at = now() - interval '1 second', attempts = $2 WHERE id = $1",
      [held, attempts],
    );
  // A lease that has ended is work again, or the end of it, whether or not somebody came by.
  await past(1);
  expect((await runtimeAt(id)).jobs).toMatchObject({ pending: 2, leased: 0, deadLetter: 1 });
  await past(2);
  expect((await runtimeAt(id)).jobs).toMatchObject({ pending: 1, leased: 0, deadLetter: 2 });
});

test('the defaults of a policy are shown as any other', async () => {
  const id = await runtimeOf(t, sibling);
  expect((await runtimeAt(id, sibling)).policy).toEqual(POLICY_DEFAULTS);
});

test("what is another agent's or another owner's is not found", async () => {
  const other = await registerHuman(t);
  const foreign = await ownedOne(t, other);
  const tasks = { mine: (await give(agent)).id, foreign: (await give(foreign)).id };
  const runtimes = {
    mine: await runtimeOf(t, agent, 'of mine'),
    foreign: await runtimeOf(t, foreign),
  };
  const nobody = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';
  await taskOf(tasks.mine);
  await runtimeAt(runtimes.mine);
  for (const [id, taskId, runtimeId] of [
    [sibling.id, tasks.mine, runtimes.mine],
    [foreign.id, tasks.foreign, runtimes.foreign],
    [agent.id, tasks.foreign, runtimes.foreign],
    [agent.id, nobody, nobody],
    [nobody, tasks.mine, runtimes.mine],
    [owner.id, tasks.mine, runtimes.mine],
    [boss.id, tasks.mine, runtimes.mine],
  ] as const) {
    const call = { token: owner.token, expect: 404 as const };
    const task = await t.api.call('getAgentTask', { ...call, params: { id, taskId } });
    const runtime = await t.api.call('getAgentRuntime', { ...call, params: { id, runtimeId } });
    expect([task.body.error.code, runtime.body.error.code]).toEqual(['not_found', 'not_found']);
  }
});

test('details of a disabled agent stay; those of one that was given away do not', async () => {
  const leaving = await ownedOne(t, owner);
  const taskId = (await give(leaving)).id;
  const runtimeId = await runtimeOf(t, leaving);
  await disable(t, leaving);
  await taskOf(taskId, leaving);
  await runtimeAt(runtimeId, leaving);
  await t.database.pool.query('UPDATE identities SET owner_id = NULL WHERE id = $1', [leaving.id]);
  const call = { token: owner.token, expect: 404 as const };
  await t.api.call('getAgentTask', { ...call, params: { id: leaving.id, taskId } });
  await t.api.call('getAgentRuntime', { ...call, params: { id: leaving.id, runtimeId } });
});
