import {
  disable,
  openToken,
  registerHuman,
  signIn,
  startTestApi,
  type TestAgent,
  type TestApi,
  type TestHuman,
} from '@relayger/api/testing';
import { type AgentMonitoring, HUMAN_SCOPES, LIMITS, type Monitoring } from '@relayger/protocol';
import {
  MINUTE,
  owned,
  ownedOne,
  roomOf,
  runtimeOf,
  seedAttempt,
  seedMessages,
  seedTask,
  WEEK,
} from './work-support.js';

let t: TestApi;
let owner: TestHuman;
beforeAll(async () => {
  t = await startTestApi();
});
beforeEach(async () => {
  owner = await registerHuman(t);
});
afterAll(() => t.close());

async function monitoring({ token } = owner): Promise<Monitoring> {
  return (await t.api.call('getMonitoring', { token, expect: 200 })).body;
}

async function figuresOf(agent: Pick<TestAgent, 'id'>): Promise<AgentMonitoring> {
  return (await monitoring()).agents.find(({ id }) => id === agent.id) as AgentMonitoring;
}

const NOTHING = {
  openTasks: 0,
  results7d: { completed: 0, failed: 0, cancelled: 0 },
  messages: 0,
  attempts: { total: 0, handled: 0, skipped: 0, failed: 0, unfinished: 0 },
  usage: { modelCalls: 0, inputTokens: 0, outputTokens: 0, unreported: 0 },
  processingMs: null,
};

test('whoever owns no agent sees none', async () => {
  expect(await monitoring()).toEqual({ windowDays: 7, agents: [], totals: NOTHING });
});

test('an agent that has done nothing has zeros and no times', async () => {
  const body = { handle: 'idle-agent', displayName: 'Idle' };
  const { id, number } = (
    await t.api.call('createOwnedAgent', { token: owner.token, body, expect: 201 })
  ).body;
  const agent = {
    ...{ id, number, handle: 'idle-agent', displayName: 'Idle' },
    ...{ disabled: false, connected: false, reportedState: 'offline', ...NOTHING },
  };
  expect(await monitoring()).toEqual({ windowDays: 7, agents: [agent], totals: NOTHING });
});

test('the figures are those of the last seven days, and of open tasks of any age', async () => {
  const agent = await ownedOne(t, owner);
  const room = await roomOf(t, agent);
  const [inside, outside] = [WEEK - MINUTE, WEEK + MINUTE];
  for (const state of ['queued', 'running', 'waiting_approval']) {
    await seedTask(t, agent, room, { at: outside * 4, state });
  }
  for (const state of ['completed', 'completed', 'failed', 'cancelled'])
    await seedTask(t, agent, room, { at: outside * 4, state, end: inside });
  for (const state of ['completed', 'failed', 'cancelled'])
    await seedTask(t, agent, room, { at: outside, state, end: outside });
  for (const type of ['text', 'data', 'sealed', 'artifact'])
    await seedMessages(t, agent, { at: inside, type });
  await seedMessages(t, agent, { at: outside, count: 3 });
  for (const type of ['status', 'progress', 'task', 'result', 'approval_request', 'revision'])
    await seedMessages(t, agent, { at: MINUTE, type });
  const runtimes = [await runtimeOf(t, agent, 'one'), await runtimeOf(t, agent, 'two')] as const;
  const finished = { at: inside, outcome: 'handled', usage: [2, 300, 40], took: 100 } as const;
  await seedAttempt(t, runtimes[0], finished);
  await seedAttempt(t, runtimes[1], { ...finished, took: 200, usage: [1, 0, 0] });
  await seedAttempt(t, runtimes[1], { ...finished, took: 1200, outcome: 'failed', usage: null });
  await seedAttempt(t, runtimes[1], {
    at: MINUTE,
    outcome: 'skipped',
    took: 300,
    usage: [0, 0, 0],
  });
  await seedAttempt(t, runtimes[1], { at: MINUTE });
  await seedAttempt(t, runtimes[0], { ...finished, at: outside });
  await seedAttempt(t, runtimes[0], { at: outside });

  expect(await figuresOf(agent)).toMatchObject({
    openTasks: 3,
    results7d: { completed: 2, failed: 1, cancelled: 1 },
    messages: 4,
    attempts: { total: 5, handled: 2, skipped: 1, failed: 1, unfinished: 1 },
    // A report of nothing is a report.
    usage: { modelCalls: 3, inputTokens: 300, outputTokens: 40, unreported: 1 },
    processingMs: { count: 4, median: 250, p95: 1065 },
  });
});

test('the totals are sums, and their times those of all attempts together', async () => {
  const [one, two] = (await owned(t, owner, 3)) as [TestAgent, TestAgent, TestAgent];
  for (const [agent, took] of [
    [one, 100],
    [two, 300],
    [two, 500],
  ] as const) {
    const room = await roomOf(t, agent);
    await seedTask(t, agent, room, { at: MINUTE });
    await seedTask(t, agent, room, { at: MINUTE, state: 'failed', end: 0 });
    await seedMessages(t, agent, { at: MINUTE, count: 2 });
    const runtime = await runtimeOf(t, agent, `took ${took}`);
    await seedAttempt(t, runtime, { at: MINUTE, outcome: 'handled', took, usage: [1, 10, 5] });
  }
  const stranger = await ownedOne(t, await registerHuman(t));
  await seedMessages(t, stranger, { at: MINUTE, count: 5 });

  const { agents, totals } = await monitoring();
  expect(agents.map(({ messages }) => messages).sort()).toEqual([0, 2, 4]);
  expect(totals).toEqual({
    openTasks: 3,
    results7d: { completed: 0, failed: 3, cancelled: 0 },
    messages: 6,
    attempts: { total: 3, handled: 3, skipped: 0, failed: 0, unfinished: 0 },
    usage: { modelCalls: 3, inputTokens: 30, outputTokens: 15, unreported: 0 },
    processingMs: { count: 3, median: 300, p95: 480 },
  });
  expect(agents.find(({ id }) => id === one.id)?.processingMs?.median).toBe(100);
  expect(agents.find(({ id }) => id === two.id)?.processingMs?.median).toBe(400);
});

test('counting ends at 10,000 records', async () => {
  const agent = await ownedOne(t, owner);
  await seedMessages(t, agent, { at: MINUTE, count: LIMITS.monitoringCounted + 1 });
  expect((await figuresOf(agent)).messages).toBe(10_000);
});

test('all 32 agents come in one reply, by handle', async () => {
  const agents = await owned(t, owner, 32);
  const reply = await monitoring();
  expect(reply.agents.map(({ handle }) => handle)).toEqual(agents.map(({ handle }) => handle));
});

test('an agent is connected while a token of it is in use', async () => {
  const agent = await ownedOne(t, owner);
  const use = (ago: string, more = '') =>
    t.database.pool.query(
      `UPDATE access_tokens SET last_used_at = now() - $2::interval ${more} WHERE identity_id = $1`,
      [agent.id, ago],
    );
  const connected = async () => (await figuresOf(agent)).connected;
  expect(await connected()).toBe(false);
  await use('1 minute 50 seconds');
  expect(await connected()).toBe(true);
  await use('2 minutes 1 second');
  expect(await connected()).toBe(false);
  await use('1 second', ', revoked_at = now()');
  expect(await connected()).toBe(false);
  await use('1 second', ", revoked_at = NULL, expires_at = now() - interval '1 second'");
  expect(await connected()).toBe(false);
});

test.each([
  ['working', '9 minutes 50 seconds', 'working', true],
  ['idle', '10 minutes 10 seconds', 'offline', false],
  ['offline', '1 second', 'offline', false],
] as const)('an agent that said %s %s ago is %s', async (said, ago, state, connected) => {
  const agent = await ownedOne(t, owner);
  await t.database.pool.query('INSERT INTO presences VALUES ($1, $2, now() - $3::interval)', [
    agent.id,
    said,
    ago,
  ]);
  expect(await figuresOf(agent)).toMatchObject({ reportedState: state, connected });
});

test('a disabled agent stays in the list with its figures, and is not there', async () => {
  const agent = await ownedOne(t, owner);
  await seedMessages(t, agent, { at: MINUTE });
  await t.database.pool.query("INSERT INTO presences VALUES ($1, 'online', now())", [agent.id]);
  await t.database.pool.query(
    'UPDATE access_tokens SET last_used_at = now() WHERE identity_id = $1',
    [agent.id],
  );
  await disable(t, agent);
  expect(await figuresOf(agent)).toMatchObject({
    disabled: true,
    connected: false,
    reportedState: 'offline',
    messages: 1,
  });
});

test('the old summary of one agent is its part of the new one', async () => {
  const [first, second] = (await owned(t, owner, 2)) as [TestAgent, TestAgent];
  await seedMessages(t, first, { at: MINUTE, count: 3 });
  await seedAttempt(t, await runtimeOf(t, first), { at: MINUTE, outcome: 'handled' });
  for (const agent of [first, second]) {
    const call = { token: owner.token, params: { id: agent.id }, expect: 200 as const };
    const { connected, ...figures } = (await t.api.call('getAgentActivity', call)).body;
    // The use of a token is noted a moment later, which may be between the two calls.
    expect(await figuresOf(agent)).toEqual({ ...figures, connected: expect.any(Boolean) });
    expect(typeof connected).toBe('boolean');
  }
});

test('an agent that belongs to nobody any more, or to somebody else, is gone', async () => {
  const agent = await ownedOne(t, owner);
  const other = await registerHuman(t);
  const call = { token: owner.token, params: { id: agent.id } };
  await t.api.call('getAgentActivity', { ...call, expect: 200 });
  for (const ownerId of [null, other.id]) {
    await t.database.pool.query('UPDATE identities SET owner_id = $2 WHERE id = $1', [
      agent.id,
      ownerId,
    ]);
    expect((await monitoring()).agents).toEqual([]);
    const reply = await t.api.call('getAgentActivity', { ...call, expect: 404 });
    expect(reply.body.error.code).toBe('not_found');
  }
});

test.each([
  'getMonitoring',
  'listActivity',
  'getAgentActivity',
  'getAgentTask',
  'getAgentRuntime',
] as const)(
  '%s needs the account scope and a token without room restriction, or a signed-in browser',
  async (operation) => {
    const agent = await ownedOne(t, owner);
    const taskId = await seedTask(t, agent, await roomOf(t, agent), { at: MINUTE });
    const runtimeId = await runtimeOf(t, agent);
    const params: Record<string, string> = {
      getMonitoring: {},
      listActivity: {},
      getAgentActivity: { id: agent.id },
      getAgentTask: { id: agent.id, taskId },
      getAgentRuntime: { id: agent.id, runtimeId },
    }[operation];
    const narrow = await openToken(t, owner, { scopes: ['read', 'write', 'rooms', 'tasks'] });
    for (const token of [agent.token, narrow]) {
      const reply = await t.api.call(operation, { token, params, expect: 403 });
      expect(reply.body.error).toMatchObject({
        code: 'insufficient_scope',
        details: { required: ['account'] },
      });
    }
    for (const roomIds of [[], [agent.id]]) {
      const token = await openToken(t, owner, { scopes: HUMAN_SCOPES, roomIds });
      const reply = await t.api.call(operation, { token, params, expect: 403 });
      expect(reply.body.error.code).toBe('room_restricted_token');
    }
    const unauthorized = await t.api.call(operation, { params, expect: 401 });
    expect(unauthorized.body.error.code).toBe('unauthorized');
    const { cookie } = await signIn(t, owner);
    const path = {
      getMonitoring: '/v1/account/monitoring',
      listActivity: '/v1/account/activity',
      getAgentActivity: `/v1/account/agents/${agent.id}/activity`,
      getAgentTask: `/v1/account/agents/${agent.id}/tasks/${taskId}`,
      getAgentRuntime: `/v1/account/agents/${agent.id}/runtimes/${runtimeId}`,
    }[operation];
    const byToken = await t.api.raw('GET', path, { token: owner.token });
    const byCookie = await t.api.raw('GET', path, { headers: { cookie } });
    expect([byToken.status, byCookie.status]).toEqual([200, 200]);
    // Tokens are noted as used while these run.
    const shape = (text: string) => text.replace(/"connected":\w+/g, '');
    expect(shape(byCookie.text)).toBe(shape(byToken.text));
  },
);
