import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openToken, registerHuman } from '@relayger/api/testing';
import { createLogger, Database } from '@relayger/kernel';
import { createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import {
  type ApiProcess,
  build,
  endProcesses,
  startApiProcess,
} from '../faults/support/api-process.js';
import { register } from '../faults/support/load.js';

// A person gives work to a coordinator, which gives a part of it to a worker; each agent is a process of its own.

let testDatabase: TestDatabase;
let database: Database;
let api: ApiProcess;
const agents = new Set<ChildProcess>();

beforeAll(async () => {
  await build();
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, pool: 2, log: createLogger('silent') });
  api = await startApiProcess({ DATABASE_URL: testDatabase.url });
}, 90_000);

afterAll(async () => {
  for (const agent of agents) agent.kill('SIGKILL');
  await api?.stop();
  await endProcesses();
  await database?.close();
  await testDatabase?.drop();
});

/** An agent in a process of its own, and what it reports. */
function startAgent(program: string, token: string, env: Record<string, string>) {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'agents', program)], {
    env: { PATH, ORIGIN: api.origin, TOKEN: token, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  agents.add(child);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  /** The value of the first report with this key. */
  const reported = async (key: string): Promise<string> => {
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; await sleep(20)) {
      for (const line of output.split('\n').slice(0, -1)) {
        const report = JSON.parse(line) as Record<string, string>;
        if (report[key] !== undefined) return report[key];
      }
    }
    throw new Error(`${program} never reported ${key}:\n${output}`);
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
    agents.delete(child);
  };
  return { reported, kill };
}

test('a person, a coordinator and a worker finish a task together, although the worker is killed on the way', async () => {
  const person = await registerHuman(api);
  const [coordinator, worker] = await Promise.all([register(api.api), register(api.api)]);
  // Deciding is a scope that an operator grants; ordinary tokens of people have none.
  const decider = await openToken({ database }, person, { scopes: ['read', 'approvals'] });
  const { token } = person;
  const { body: room } = await api.api.call('createRoom', {
    token,
    body: { name: 'release' },
    expect: 201,
  });
  for (const { id } of [coordinator, worker]) {
    const params = { room: room.id, identity: id };
    await api.api.call('addMember', { token, params, expect: 201 });
  }

  const lead = startAgent('coordinator.mjs', coordinator.token, {
    WORKER_ID: worker.id,
    APPROVER_ID: person.id,
  });
  const doomed = startAgent('worker.mjs', worker.token, { SLOW_MS: '600000' });

  const { body: root } = await api.api.call('createTask', {
    token,
    body: {
      roomId: room.id,
      assigneeId: coordinator.id,
      clientTaskId: randomUUID(),
      input: {
        operation: 'custom',
        kind: 'headline.v1',
        title: 'Make it loud',
        data: { text: 'hello from relayger' },
      },
    },
    expect: 201,
  });
  const subtaskId = await lead.reported('subtask');
  expect(await doomed.reported('began')).toBe(subtaskId);
  await doomed.kill();

  // The lease of the dead worker ends by itself; the test does not wait 30 seconds for that.
  await database.pool.query(`UPDATE tasks SET lease_until = now() WHERE id = $1`, [subtaskId]);
  const successor = startAgent('worker.mjs', worker.token, { SLOW_MS: '50' });
  expect(await successor.reported('completed')).toBe(subtaskId);

  const approvalId = await lead.reported('approval');
  const params = { id: approvalId };
  const { body: approval } = await api.api.call('getApproval', {
    token: decider,
    params,
    expect: 200,
  });
  expect(approval.action).toEqual({ kind: 'review_result', summary: 'HELLO FROM RELAYGER' });
  const decision = { decision: 'approve' as const, hash: approval.payloadHash };
  await api.api.call('decideApproval', { token: decider, params, body: decision, expect: 200 });
  expect(await lead.reported('finished')).toBe('completed');

  const taskOf = async (id: string) =>
    (await api.api.call('getTask', { token, params: { id }, expect: 200 })).body;
  expect(await taskOf(root.id)).toMatchObject({
    state: 'completed',
    attempts: 1,
    result: { text: 'HELLO FROM RELAYGER' },
  });
  expect(await taskOf(subtaskId)).toMatchObject({
    state: 'completed',
    attempts: 2,
    parentTaskId: root.id,
  });
  const { body: history } = await api.api.call('listMessages', {
    token,
    params: { room: room.id },
    query: { after: '0', limit: 100 },
    expect: 200,
  });
  expect(history.map(({ type }) => type).filter((type) => type !== 'progress')).toEqual([
    'task',
    'task',
    'result',
    'approval_request',
    'approval_decision',
    'result',
  ]);
  expect(new Set(history.map(({ rootTaskId }) => rootTaskId))).toEqual(new Set([root.id]));
}, 60_000);
