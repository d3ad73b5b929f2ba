import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { CreateTaskRequest } from '@relayger/protocol';
import {
  cancel,
  claim,
  create,
  crew,
  DONE,
  group,
  type Held,
  history,
  later,
  order,
  refusal,
  stored,
  update,
  upTo,
} from './support.js';

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

const root = async (): Promise<Held> =>
  claim(t, worker, await create(t, boss, order(room, worker)));

/** A request for a part of a task that the worker holds. */
const part = (parent: Held, more: Partial<CreateTaskRequest> = {}): CreateTaskRequest =>
  order(parent.roomId, worker, {
    parentTaskId: parent.id,
    parentVersion: parent.version,
    parentLeaseOwner: parent.leaseOwner,
    ...more,
  });
const why = (body: unknown, status: number, who = worker) =>
  refusal(t, who, 'createTask', status, { body });
const say = (rootTaskId: string, place = room) => ({
  token: boss.token,
  params: { room: place },
  body: textMessage('about it', { rootTaskId }),
});

/** Messages of the root in the room, progress left out: what its count has to be. */
async function counted(id: string, place = room): Promise<number> {
  const all = await history(t, boss, place);
  return all.filter(({ rootTaskId, type }) => rootTaskId === id && type !== 'progress').length;
}

async function post(body: unknown): Promise<number> {
  return (await t.api.raw('POST', '/v1/tasks', { token: worker.token, body })).status;
}

describe('a subtask', () => {
  test('belongs to its parent and to the root', async () => {
    const top = await root();
    const child = await create(t, worker, part(top));
    expect(child).toMatchObject({ parentTaskId: top.id, rootTaskId: top.id, depth: 2 });
    const held = await claim(t, worker, child);
    const grandchild = await create(t, worker, part(held));
    expect(grandchild).toMatchObject({ parentTaskId: child.id, rootTaskId: top.id, depth: 3 });
    await update(t, worker, held, DONE);
    expect(await stored(t, top)).toMatchObject({ tree_tasks: 3, tree_messages: 4 });
    expect(await counted(top.id)).toBe(4);
  });

  test('needs the current lease of the parent', async () => {
    const top = await root();
    const beaten = await update(t, worker, top, { state: 'running' });
    expect(await why(part(top), 409)).toBe('version_conflict');
    expect(await why(part(beaten, { parentLeaseOwner: randomUUID() }), 409)).toBe('lease_lost');
    expect(await why(part(beaten), 403, boss)).toBe('task_assignee_required');
    await later(t, top);
    expect(await why(part(beaten), 409)).toBe('lease_lost');
    const again = await claim(t, worker, top);
    expect(await why(part(beaten), 409)).toBe('lease_lost');
    await update(t, worker, again, DONE);
    expect(await why(part(again), 409)).toBe('task_finished');
    expect(await stored(t, top)).toMatchObject({ tree_tasks: 1 });
  });

  test('needs all three of the parent, or none', async () => {
    const top = await root();
    const { parentTaskId: _, ...orphan } = part(top);
    expect(await why(orphan, 400)).toBe('body.parentVersion');
    const { parentVersion: __, ...noVersion } = part(top);
    expect(await why(noVersion, 400)).toBe('body.parentVersion');
    const { parentLeaseOwner: ___, ...noOwner } = part(top);
    expect(await why(noOwner, 400)).toBe('body.parentLeaseOwner');
  });

  test('is found again by a coordinator that was restarted, under its new lease', async () => {
    const top = await root();
    const request = part(top);
    const child = await create(t, worker, request);
    await later(t, top);
    const again = await claim(t, worker, top);
    // The old lease opens nothing, not even what it has made.
    expect(await why(request, 409)).toBe('lease_lost');
    const body = part(again, { clientTaskId: request.clientTaskId });
    const found = await t.api.call('createTask', { token: worker.token, body, expect: 200 });
    expect(found.body).toEqual(child);
    expect(await stored(t, top)).toMatchObject({ tree_tasks: 2, tree_messages: 2 });
    const other = part(again, {
      clientTaskId: request.clientTaskId,
      input: { operation: 'echo', text: 'other' },
    });
    expect(await why(other, 409)).toBe('idempotency_conflict');
    const rootless = order(room, worker, { clientTaskId: request.clientTaskId });
    expect(await why(rootless, 409)).toBe('idempotency_conflict');
  });

  test('stays queued while its worker is stopped', async () => {
    const top = await root();
    const child = await create(t, worker, part(top));
    await later(t, top, 300);
    const held = await claim(t, worker, child);
    expect((await update(t, worker, held, DONE)).state).toBe('completed');
  });

  test('cannot have a parent of another room, nor one that does not exist', async () => {
    const place = await group(t, boss, worker);
    const top = await root();
    expect(await why(part(top, { roomId: place }), 400)).toBe('body.parentTaskId');
    expect(await why(part(top, { parentTaskId: randomUUID() }), 400)).toBe('body.parentTaskId');
  });

  test('of a cancelled task cannot be made', async () => {
    const top = await root();
    await cancel(t, boss, top);
    expect(await why(part(top), 409)).toBe('task_finished');
  });
});

describe('a tree has at most', () => {
  test('four levels', async () => {
    let held = await root();
    for (const depth of [2, 3, 4]) {
      held = await claim(t, worker, await create(t, worker, part(held)));
      expect(held.depth).toBe(depth);
    }
    expect(await why(part(held), 409)).toBe('task_tree_limit');
  });

  test('thirty-two tasks, however many are made at once, on any level', async () => {
    const replica = await t.replica();
    const top = await root();
    const child = await claim(t, worker, await create(t, worker, part(top)));
    const statuses = await Promise.all(
      upTo(40).map(async (n) => {
        const { api } = n % 2 ? t : replica;
        const body = part(n % 3 ? top : child);
        return (await api.raw('POST', '/v1/tasks', { token: worker.token, body })).status;
      }),
    );
    await replica.close();
    expect(statuses.filter((status) => status === 201)).toHaveLength(30);
    expect(statuses.filter((status) => status === 409)).toHaveLength(10);
    expect(await why(part(top), 409)).toBe('task_tree_limit');
    const { rows } = await t.database.pool.query(
      'SELECT count(*)::int AS tasks FROM tasks WHERE root_id = $1',
      [top.id],
    );
    expect(rows).toEqual([{ tasks: 32 }]);
    expect(await stored(t, top)).toMatchObject({ tree_tasks: 32, tree_messages: 32 });
    expect(await counted(top.id)).toBe(32);
  });

  test('one hundred and twenty-eight messages, whoever sends them at once', async () => {
    const top = await root();
    await t.database.pool.query('UPDATE tasks SET tree_messages = 119 WHERE id = $1', [top.id]);
    const statuses = await Promise.all(
      upTo(16).map(async (n) => {
        if (n % 4 === 0) return post(part(top));
        const { token, body } = say(top.id);
        return (await t.api.raw('POST', `/v1/rooms/${room}/messages`, { token, body })).status;
      }),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(9);
    expect(statuses.filter((status) => status === 409)).toHaveLength(7);
    expect(await stored(t, top)).toMatchObject({ tree_messages: 128 });
    expect(await why(part(top), 409)).toBe('task_tree_limit');
    const { params, body } = say(top.id);
    expect(await refusal(t, boss, 'sendMessage', 409, { params, body })).toBe('task_tree_limit');
    // A tree that is full can still be finished, and progress is no part of the budget.
    const told = await update(t, worker, top, { state: 'running', progress: { percent: 99 } });
    expect((await update(t, worker, told, DONE)).state).toBe('completed');
  });

  test('messages that are counted once, also when they are sent again', async () => {
    const top = await root();
    const message = say(top.id);
    await t.api.call('sendMessage', { ...message, expect: 201 });
    await t.api.call('sendMessage', { ...message, expect: 200 });
    expect(await stored(t, top)).toMatchObject({ tree_messages: 2 });
    expect(await counted(top.id)).toBe(2);
  });
});

describe('a message that belongs to a task', () => {
  test('names a root task of its room, and is shown with it', async () => {
    const top = await root();
    await t.api.call('sendMessage', { ...say(top.id), expect: 201 });
    const [last] = (await history(t, worker, room)).slice(-1);
    expect(last).toMatchObject({ type: 'text', rootTaskId: top.id });
  });

  test('cannot name a subtask, a task of another room or none', async () => {
    const place = await group(t, boss, worker);
    const top = await root();
    const child = await create(t, worker, part(top));
    for (const [id, where] of [
      [child.id, room],
      [top.id, place],
      [randomUUID(), room],
    ] as const) {
      const { params, body } = say(id, where);
      expect(await refusal(t, boss, 'sendMessage', 400, { params, body })).toBe('body.rootTaskId');
    }
  });
});

test('a message to one identity is counted in the tree of their conversation', async () => {
  const [a, b] = (await crew(t, 2)) as [TestAgent, TestAgent];
  await t.befriend(a, b);
  const send = (rootTaskId?: string) => ({
    token: a.token,
    body: {
      target: b.number,
      message: textMessage('about it', { ...(rootTaskId && { rootTaskId }) }),
    },
  });
  const opened = await t.api.call('sendDirect', { ...send(), expect: 201 });
  const { room: dm } = opened.body as { room: string };
  const { id } = await create(t, a, order(dm, b));
  await t.api.call('sendDirect', { ...send(id), expect: 201 });
  expect((await stored(t, { id })).tree_messages).toBe(2);
  await t.database.pool.query('UPDATE tasks SET tree_messages = 128 WHERE id = $1', [id]);
  const reply = await t.api.call('sendDirect', { ...send(id), expect: 409 });
  expect(reply.body.error.code).toBe('task_tree_limit');
});

test('creating, completing, talking and cancelling in one tree at once ends without failures', async () => {
  const top = await root();
  const children = await Promise.all(
    upTo(6).map(async () => claim(t, worker, await create(t, worker, part(top)))),
  );
  const worker16 = { token: worker.token };
  const replies = await Promise.all([
    ...children.flatMap((child) => [
      t.api.raw('POST', `/v1/tasks/${child.id}/update`, {
        ...worker16,
        body: { version: child.version, leaseOwner: child.leaseOwner, ...DONE },
      }),
      t.api.raw('POST', `/v1/tasks/${child.id}/claim`, { ...worker16, body: {} }),
      t.api.raw('POST', '/v1/tasks', { ...worker16, body: part(child) }),
      t.api.raw('POST', `/v1/rooms/${room}/messages`, say(top.id)),
    ]),
    t.api.raw('POST', `/v1/tasks/${top.id}/cancel`, { token: boss.token, body: {} }),
  ]);
  for (const { status } of replies) expect([200, 201, 409]).toContain(status);
  expect(replies.at(-1)?.status).toBe(200);
  const { rows } = await t.database.pool.query(
    "SELECT count(*)::int AS open FROM tasks WHERE root_id = $1 AND state NOT IN ('completed', 'cancelled')",
    [top.id],
  );
  expect(rows).toEqual([{ open: 0 }]);
  expect((await stored(t, top)).tree_messages).toBe(await counted(top.id));
});
