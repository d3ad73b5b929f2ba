import { randomUUID } from 'node:crypto';
import {
  openToken,
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import {
  claim,
  create,
  crew,
  custom,
  DONE,
  expel,
  get,
  group,
  inbox,
  later,
  order,
  refused,
  stored,
  until,
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

const soon = () => new Date(Date.now() + 3_600_000).toISOString();

describe('a claim', () => {
  test('gives the assignee a lease of thirty seconds, under a new version', async () => {
    const task = await create(t, boss, order(room, worker));
    const held = await claim(t, worker, task);
    const { leaseUntil = '', leaseOwner, updatedAt, ...rest } = held;
    expect(rest).toEqual({
      ...task,
      updatedAt: undefined,
      state: 'running',
      version: '2',
      attempts: 1,
    });
    expect(leaseOwner).toMatch(/^[0-9a-f-]{36}$/);
    const seconds = (Date.parse(leaseUntil) - Date.parse(updatedAt)) / 1000;
    expect(seconds).toBeCloseTo(30, 1);
  });

  test('tells nobody else who holds the lease, and everybody until when', async () => {
    const task = await create(t, boss, order(room, worker));
    const { leaseUntil } = await claim(t, worker, task);
    for (const who of [boss, worker, mate]) {
      const seen = await get(t, who, task);
      expect(seen).toMatchObject({ state: 'running', leaseUntil });
      expect(seen).not.toHaveProperty('leaseOwner');
    }
    expect((await inbox(t, worker))[0]).not.toHaveProperty('leaseOwner');
  });

  test('is for the assignee only', async () => {
    const human = await registerHuman(t);
    await t.api.call('addMember', {
      token: boss.token,
      params: { room, identity: human.id },
      expect: 201,
    });
    const task = await create(t, boss, order(room, worker));
    for (const who of [boss, mate, human]) {
      expect(await refused(t, who, 'claimTask', task, 403)).toBe('task_assignee_required');
    }
    expect(await stored(t, task)).toMatchObject({ state: 'queued', attempts: 0, version: '1' });
  });

  test('of a task that one may not see finds none', async () => {
    const [stranger] = (await crew(t, 1)) as [TestAgent];
    const task = await create(t, boss, order(room, worker));
    const restricted = { token: await openToken(t, worker, { roomIds: [randomUUID()] }) };
    for (const who of [stranger, restricted]) {
      expect(await refused(t, who, 'claimTask', task, 404)).toBe('not_found');
      expect(await refused(t, who, 'getTask', task, 404)).toBe('not_found');
    }
    expect(await refused(t, worker, 'claimTask', { id: randomUUID() }, 404)).toBe('not_found');
    expect(await refused(t, worker, 'claimTask', { id: 'first' }, 400)).toBe('params.id');
    expect(await refused(t, worker, 'claimTask', task, 400, { now: true })).toBe('body');
    const narrow = { token: await openToken(t, worker, { scopes: ['read'] }) };
    expect(await refused(t, narrow, 'claimTask', task, 403)).toBe('insufficient_scope');
    const within = { token: await openToken(t, worker, { roomIds: [room] }) };
    expect((await claim(t, within, task)).state).toBe('running');
  });

  test('is refused while the task is leased, and once it is finished', async () => {
    const task = await create(t, boss, order(room, worker));
    const held = await claim(t, worker, task);
    expect(await refused(t, worker, 'claimTask', task, 409)).toBe('task_not_claimable');
    await update(t, worker, held, DONE);
    await later(t, task);
    expect(await refused(t, worker, 'claimTask', task, 409)).toBe('task_not_claimable');
  });

  test('after the lease has ended gives another lease', async () => {
    const task = await create(t, boss, order(room, worker));
    const first = await claim(t, worker, task);
    await later(t, task, 29);
    expect(await refused(t, worker, 'claimTask', task, 409)).toBe('task_not_claimable');
    await later(t, task, 2);
    const second = await claim(t, worker, task);
    expect(second).toMatchObject({ attempts: 2, version: '3', state: 'running' });
    expect(second.leaseOwner).not.toBe(first.leaseOwner);
  });

  test('succeeds five times, never six', async () => {
    const task = await create(t, boss, order(room, worker));
    for (const attempts of upTo(5)) {
      expect(await claim(t, worker, task)).toMatchObject({ attempts });
      await later(t, task);
    }
    expect(await refused(t, worker, 'claimTask', task, 409)).toMatch(/task_not_claimable/);
  });
});

describe('a deadline', () => {
  test('that has passed ends claiming, a first time and again', async () => {
    const first = await create(t, boss, custom(room, worker, { deadline: soon() }));
    const second = await create(t, boss, custom(room, worker, { deadline: soon() }));
    await claim(t, worker, second);
    for (const task of [first, second]) {
      await later(t, task, 3_700);
      expect(await refused(t, worker, 'claimTask', task, 409)).toBe('task_deadline_passed');
      await until('the end of a task', async () => (await get(t, boss, task)).state === 'failed');
      expect(await refused(t, worker, 'claimTask', task, 409)).toBe('task_deadline_passed');
    }
  });

  test('does not end a lease', async () => {
    const task = await create(t, boss, custom(room, worker, { deadline: soon() }));
    const held = await claim(t, worker, task);
    await t.database.pool.query('UPDATE tasks SET deadline = now() WHERE id = $1', [task.id]);
    expect(await refused(t, worker, 'claimTask', task, 409)).toBe('task_not_claimable');
    const renewed = await update(t, worker, held, { state: 'running' });
    expect((await update(t, worker, renewed, DONE)).state).toBe('completed');
  });
});

describe('of claims at the same time', () => {
  test('fifty of one task, to two processes, one wins', async () => {
    const replica = await t.replica();
    const task = await create(t, boss, order(room, worker));
    const replies = await Promise.all(
      upTo(50).map((n) =>
        (n % 2 ? t : replica).api.raw('POST', `/v1/tasks/${task.id}/claim`, {
          token: worker.token,
          body: {},
        }),
      ),
    );
    await replica.close();
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(49);
    expect(await get(t, boss, task)).toMatchObject({ attempts: 1, version: '2' });
  });

  test('each of many tasks gets its own answer', async () => {
    const tasks = await Promise.all(upTo(12).map(() => create(t, boss, order(room, worker))));
    const foreign = await create(t, boss, order(room, mate));
    const post = (id: string) =>
      t.api.raw('POST', `/v1/tasks/${id}/claim`, { token: worker.token, body: {} });
    const replies = await Promise.all([
      ...tasks.map(({ id }) => post(id)),
      post(foreign.id),
      post(randomUUID()),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([...tasks.map(() => 200), 403, 404]);
    const ids = replies.slice(0, 12).map(({ body }) => (body as { id: string }).id);
    expect(ids).toEqual(tasks.map(({ id }) => id));
    const owners = replies
      .slice(0, 12)
      .map(({ body }) => (body as { leaseOwner: string }).leaseOwner);
    expect(new Set(owners).size).toBe(12);
  });
});

describe('who may not work in the room any more', () => {
  test('can neither claim nor update its tasks there', async () => {
    const [leaver] = (await crew(t, 1)) as [TestAgent];
    const place = await group(t, boss, leaver);
    const queued = await create(t, boss, order(place, leaver));
    const held = await claim(t, leaver, await create(t, boss, order(place, leaver)));
    await expel(t, boss, place, leaver);
    const before = await stored(t, held);
    expect(await refused(t, leaver, 'claimTask', queued, 404)).toBe('not_found');
    const { version, leaseOwner } = held;
    for (const more of [
      { state: 'running' },
      { state: 'running', progress: { percent: 1 } },
      { state: 'waiting_approval' },
      DONE,
      { state: 'failed', error: 'no' },
    ]) {
      const body = { version, leaseOwner, ...more };
      expect(await refused(t, leaver, 'updateTask', held, 404, body)).toBe('not_found');
    }
    expect(await stored(t, held)).toEqual(before);
    expect(await inbox(t, leaver)).toEqual([]);
  });

  test('because a contact has ended finds its tasks again when it is back', async () => {
    const [a, b] = (await crew(t, 2)) as [TestAgent, TestAgent];
    await t.befriend(a, b);
    const body = { target: b.number, message: textMessage('hello') };
    const sent = await t.api.call('sendDirect', { token: a.token, body, expect: 201 });
    const dm = (sent.body as { room: string }).room;
    const task = await create(t, a, order(dm, b));
    const held = await claim(t, b, await create(t, a, order(dm, b)));
    await t.api.call('removeContact', {
      token: a.token,
      params: { address: b.number },
      body: {},
      expect: 200,
    });
    expect(await refused(t, b, 'claimTask', task, 403)).toBe('contact_required');
    const renewal = { version: held.version, leaseOwner: held.leaseOwner, state: 'running' };
    expect(await refused(t, b, 'updateTask', held, 403, renewal)).toBe('contact_required');
    expect(await inbox(t, b)).toEqual([]);
    expect((await get(t, a, task)).state).toBe('queued');
    await t.befriend(a, b);
    expect(await inbox(t, b)).toHaveLength(2);
    expect((await claim(t, b, task)).state).toBe('running');
    expect((await update(t, b, held, DONE)).state).toBe('completed');
  });
});
