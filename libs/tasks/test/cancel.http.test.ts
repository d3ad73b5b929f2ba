import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import {
  cancel,
  claim,
  create,
  crew,
  DONE,
  expel,
  get,
  group,
  type Held,
  history,
  order,
  refused,
  stored,
  under,
  update,
} from './support.js';

let t: TestApi;
let owner: TestAgent;
let boss: TestAgent;
let worker: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [owner, boss, worker] = (await crew(t, 3)) as [TestAgent, TestAgent, TestAgent];
  room = await group(t, owner, boss, worker);
});
afterAll(() => t.close());

const made = () => create(t, boss, order(room, worker));
const part = (parent: Held) =>
  order(room, worker, {
    parentTaskId: parent.id,
    parentVersion: parent.version,
    parentLeaseOwner: parent.leaseOwner,
  });

describe('a task is cancelled', () => {
  test('by its creator, before anybody claims it', async () => {
    const task = await made();
    const cancelled = await cancel(t, boss, task);
    expect(cancelled).toMatchObject({ state: 'cancelled', version: '2' });
    expect(await get(t, worker, task)).toEqual(cancelled);
    expect(await refused(t, worker, 'claimTask', task, 409)).toBe('task_not_claimable');
  });

  test('by the owner of the room, also after its creator has left', async () => {
    const [guest] = (await crew(t, 1)) as [TestAgent];
    const place = await group(t, owner, guest, worker);
    const task = await create(t, guest, order(place, worker));
    await expel(t, owner, place, guest);
    expect(await refused(t, guest, 'cancelTask', task, 404)).toBe('not_found');
    expect((await cancel(t, owner, task)).state).toBe('cancelled');
  });

  test('while it is leased, and its holder is told so whatever it sends', async () => {
    const held = await claim(t, worker, await made());
    const cancelled = await cancel(t, boss, held);
    expect(cancelled).not.toHaveProperty('leaseUntil');
    const before = await stored(t, held);
    const writes = [
      { state: 'running' },
      { state: 'running', progress: { percent: 1 } },
      { state: 'waiting_approval' },
      DONE,
      { state: 'failed', error: 'too late' },
    ] as const;
    for (const write of writes) {
      const body = under(held, write);
      expect(await refused(t, worker, 'updateTask', held, 409, body)).toBe('task_finished');
    }
    expect(await stored(t, held)).toEqual(before);
  });

  test('with its open subtasks; finished ones stay as they are', async () => {
    const top = await claim(t, worker, await made());
    const queued = await create(t, worker, part(top));
    const finished = await claim(t, worker, await create(t, worker, part(top)));
    const running = await claim(t, worker, await create(t, worker, part(top)));
    const below = await create(t, worker, part(running));
    await update(t, worker, finished, DONE);
    await cancel(t, boss, top);
    for (const task of [top, queued, running, below]) {
      expect((await get(t, worker, task)).state).toBe('cancelled');
    }
    expect((await get(t, worker, finished)).state).toBe('completed');
  });

  test('by its creator also across a block, which hides it from both', async () => {
    const [a, b] = (await crew(t, 2)) as [TestAgent, TestAgent];
    await t.befriend(a, b);
    const body = { target: b.number, message: textMessage('hello') };
    const sent = await t.api.call('sendDirect', { token: a.token, body, expect: 201 });
    const dm = (sent.body as { room: string }).room;
    const task = await create(t, a, order(dm, b));
    const params = { address: a.number };
    await t.api.call('blockContact', { token: b.token, params, body: {}, expect: 200 });
    expect(await refused(t, b, 'cancelTask', task, 404)).toBe('not_found');
    expect((await cancel(t, a, task)).state).toBe('cancelled');
  });

  test('in part: a subtask by whoever made it, and the rest goes on', async () => {
    const top = await claim(t, worker, await made());
    const one = await create(t, worker, part(top));
    const other = await create(t, worker, part(top));
    await cancel(t, worker, one);
    expect((await get(t, boss, other)).state).toBe('queued');
    expect((await update(t, worker, top, DONE)).state).toBe('completed');
    // What its parent has left behind is still there to be done.
    expect((await claim(t, worker, other)).state).toBe('running');
  });

  test('once: the second time it answers the task as it is', async () => {
    const task = await made();
    const first = await cancel(t, boss, task);
    expect(await cancel(t, owner, task)).toEqual(first);
  });

  test('without an event in the room', async () => {
    const task = await made();
    const before = await history(t, boss, room);
    await cancel(t, boss, task);
    expect(await history(t, boss, room)).toEqual(before);
  });
});

describe('a task is not cancelled', () => {
  test('by its assignee or by other members', async () => {
    const [mate] = (await crew(t, 1)) as [TestAgent];
    await t.api.call('addMember', {
      token: owner.token,
      params: { room, identity: mate.id },
      expect: 201,
    });
    const task = await made();
    for (const who of [worker, mate]) {
      expect(await refused(t, who, 'cancelTask', task, 403)).toBe('task_creator_required');
    }
    const [stranger] = (await crew(t, 1)) as [TestAgent];
    expect(await refused(t, stranger, 'cancelTask', task, 404)).toBe('not_found');
    expect(await stored(t, task)).toMatchObject({ state: 'queued', version: '1' });
  });

  test('once it is completed or has failed', async () => {
    const done = await claim(t, worker, await made());
    await update(t, worker, done, DONE);
    const failed = await claim(t, worker, await made());
    await update(t, worker, failed, { state: 'failed', error: 'no' });
    for (const task of [done, failed]) {
      expect(await refused(t, boss, 'cancelTask', task, 409)).toBe('task_finished');
    }
  });

  test('when its completion was first: of both at once one happens', async () => {
    for (let i = 0; i < 10; i++) {
      const held = await claim(t, worker, await made());
      const [cancelled, finished] = await Promise.all([
        t.api.raw('POST', `/v1/tasks/${held.id}/cancel`, { token: boss.token, body: {} }),
        t.api.raw('POST', `/v1/tasks/${held.id}/update`, {
          token: worker.token,
          body: under(held, DONE),
        }),
      ]);
      expect([cancelled.status, finished.status].sort()).toEqual([200, 409]);
      const state = cancelled.status === 200 ? 'cancelled' : 'completed';
      expect((await get(t, boss, held)).state).toBe(state);
    }
  });
});
