import { randomUUID } from 'node:crypto';
import {
  disable,
  openToken,
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import type { AgentSignals } from '@relayger/protocol';
import { cancel, claim, create, crew, DONE, group, order, update, upTo } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

async function signals(of: string, who: Pick<TestAgent, 'token'>): Promise<AgentSignals> {
  const options = { token: who.token, params: { address: of }, expect: 200 as const };
  return (await t.api.call('getSignals', options)).body;
}

type End = 'complete' | 'fail' | 'cancel' | 'leave';
async function work(from: TestAgent, room: string, agent: TestAgent, end: End): Promise<string> {
  const task = await create(t, from, order(room, agent));
  if (end === 'cancel') await cancel(t, from, task);
  if (end === 'complete' || end === 'fail') {
    const held = await claim(t, agent, task);
    await update(t, agent, held, end === 'fail' ? { state: 'failed', error: 'no' } : DONE);
  }
  return task.id;
}

test('an agent has its age and what became of tasks that others gave it', async () => {
  const [agent, first, second] = (await crew(t, 3)) as [TestAgent, TestAgent, TestAgent];
  const room = await group(t, first, agent, second);
  const none = { completed: 0, failed: 0, cancelled: 0, requesters: 0 };
  const before = await signals(agent.number, first);
  expect(before).toEqual({ since: before.since, ownedByHuman: false, tasks90d: none });
  expect(Math.abs(Date.now() - Date.parse(before.since))).toBeLessThan(600_000);
  for (const _ of upTo(2)) await work(first, room, agent, 'complete');
  await work(second, room, agent, 'complete');
  await work(first, room, agent, 'fail');
  await work(first, room, agent, 'cancel');
  await work(first, room, agent, 'leave');
  const tasks90d = { completed: 3, failed: 1, cancelled: 1, requesters: 2 };
  for (const address of [agent.number, `@${agent.handle}`, agent.id]) {
    expect(await signals(address, second)).toEqual({ ...before, tasks90d });
  }
});

test('tasks of the agent itself, of its owner and of agents of the same owner do not count', async () => {
  const human = await registerHuman(t);
  const stranger = await registerHuman(t);
  const [agent, sibling, other] = (await crew(t, 3)) as [TestAgent, TestAgent, TestAgent];
  await t.database.pool.query('UPDATE identities SET owner_id = $2 WHERE id = ANY ($1)', [
    [agent.id, sibling.id],
    human.id,
  ]);
  await t.database.pool.query('UPDATE identities SET owner_id = $2 WHERE id = $1', [
    other.id,
    stranger.id,
  ]);
  const room = await group(t, other, agent, sibling, human, stranger);
  for (const from of [agent, sibling, human]) await work(from, room, agent, 'complete');
  expect(await signals(agent.id, other)).toMatchObject({
    ownedByHuman: true,
    tasks90d: { completed: 0, requesters: 0 },
  });
  for (const from of [other, stranger]) await work(from, room, agent, 'complete');
  expect((await signals(agent.id, other)).tasks90d).toMatchObject({ completed: 2, requesters: 2 });
});

test('tasks count for ninety days', async () => {
  const [agent, boss] = (await crew(t, 2)) as [TestAgent, TestAgent];
  const room = await group(t, boss, agent);
  const [old, recent] = [
    await work(boss, room, agent, 'complete'),
    await work(boss, room, agent, 'fail'),
  ];
  const age = (id: string, days: number) =>
    t.database.pool.query(
      'UPDATE tasks SET created_at = now() - make_interval(days => $2) WHERE id = $1',
      [id, days],
    );
  await age(old, 91);
  await age(recent, 89);
  expect((await signals(agent.id, boss)).tasks90d).toEqual({
    completed: 0,
    failed: 1,
    cancelled: 0,
    requesters: 1,
  });
});

test('people, disabled agents and strangers to the server have none', async () => {
  const human = await registerHuman(t);
  const [gone, agent] = (await crew(t, 2)) as [TestAgent, TestAgent];
  await disable(t, gone);
  const { token } = agent;
  for (const address of [human.number, human.id, gone.number, randomUUID(), '@nobody-here']) {
    await t.api.call('getSignals', { token, params: { address }, expect: 404 });
  }
  const code = async (address: string) => {
    const reply = await t.api.call('getSignals', { token, params: { address }, expect: 400 });
    return reply.body.error.code;
  };
  expect(await code('12345')).toBe('invalid_number');
  const last = (Number(agent.number.at(-1)) + 1) % 10;
  expect(await code(`${agent.number.slice(0, 9)}${last}`)).toBe('invalid_number_check_digit');
});

test('signals need the contacts scope', async () => {
  const [agent] = (await crew(t, 1)) as [TestAgent];
  const params = { address: agent.id };
  const token = await openToken(t, agent, { scopes: ['tasks', 'read'] });
  await t.api.call('getSignals', { token, params, expect: 403 });
});
