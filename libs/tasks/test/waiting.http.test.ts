import {
  openToken,
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { HUMAN_SCOPES } from '@relayger/protocol';
import {
  cancel,
  claim,
  create,
  crew,
  custom,
  DONE,
  get,
  group,
  type Held,
  inbox,
  later,
  order,
  refused,
  stored,
  under,
  until,
  update,
  upTo,
} from './support.js';

let t: TestApi;
let boss: TestAgent;
let worker: TestAgent;
let human: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [boss, worker] = (await crew(t, 2)) as [TestAgent, TestAgent];
  const person = await registerHuman(t);
  human = {
    ...person,
    token: await openToken(t, person, { scopes: [...HUMAN_SCOPES, 'approvals'] }),
  };
  room = await group(t, boss, worker, human);
});
afterAll(() => t.close());

const WAIT = { state: 'waiting_approval' } as const;

async function ask({ id, version, leaseOwner }: Held) {
  const body = {
    taskId: id,
    version,
    leaseOwner,
    approverId: human.id,
    description: 'Please look at it',
    action: { kind: 'review_result' as const, summary: 'It is done' },
    expiresIn: 600,
  };
  return (await t.api.call('requestApproval', { token: worker.token, body, expect: 201 })).body;
}

async function decide(
  { id, payloadHash }: { id: string; payloadHash: string },
  decision: 'approve' | 'reject',
) {
  const body = { decision, hash: payloadHash };
  await t.api.call('decideApproval', { token: human.token, params: { id }, body, expect: 200 });
}

/** A task that waits for a person. */
async function parked(request = order(room, worker)) {
  const held = await claim(t, worker, await create(t, boss, request));
  const approval = await ask(held);
  return { approval, held: await update(t, worker, held, WAIT) };
}

describe('a task that waits for an approval', () => {
  test('needs one that is pending', async () => {
    const held = await claim(t, worker, await create(t, boss, order(room, worker)));
    const before = await stored(t, held);
    expect(await refused(t, worker, 'updateTask', held, 409, under(held, WAIT))).toBe(
      'approval_required',
    );
    expect(await stored(t, held)).toEqual(before);
  });

  test('keeps its lease as long as the worker renews it', async () => {
    const { held } = await parked();
    expect(held).toMatchObject({ state: 'waiting_approval', attempts: 1 });
    let renewed = held;
    for (const _ of upTo(3)) {
      await later(t, held, 25);
      renewed = await update(t, worker, renewed, WAIT);
    }
    expect(renewed.version).toBe('6');
    expect(await refused(t, worker, 'claimTask', held, 409)).toBe('task_not_claimable');
    expect((await update(t, worker, renewed, { state: 'running' })).state).toBe('running');
  });

  test('cannot be completed before the decision, nor after a rejection', async () => {
    const { held, approval } = await parked();
    const done = () => refused(t, worker, 'updateTask', held, 409, under(held, DONE));
    expect(await done()).toBe('approval_pending');
    await decide(approval, 'reject');
    expect(await done()).toBe('approval_pending');
    const failed = await update(t, worker, held, { state: 'failed', error: 'rejected' });
    expect(failed.state).toBe('failed');
  });

  test('is completed by its worker after the approval', async () => {
    const { held, approval } = await parked();
    await decide(approval, 'approve');
    expect((await update(t, worker, held, DONE)).state).toBe('completed');
  });
});

describe('a task whose worker is gone while a person thinks', () => {
  test('waits, is lost to the old worker, and can be claimed once it is decided', async () => {
    const { held, approval } = await parked();
    await later(t, held, 600);
    expect(await refused(t, worker, 'claimTask', held, 409)).toBe('task_not_claimable');
    expect(await refused(t, worker, 'updateTask', held, 409, under(held, WAIT))).toBe('lease_lost');
    await decide(approval, 'approve');
    const again = await claim(t, worker, held);
    expect(again).toMatchObject({ state: 'running', attempts: 1, version: '4' });
    expect(again.leaseOwner).not.toBe(held.leaseOwner);
    expect((await update(t, worker, again, DONE)).state).toBe('completed');
  });

  test('can be claimed after a rejection too, to fail it', async () => {
    const { held, approval } = await parked();
    await later(t, held);
    await decide(approval, 'reject');
    const again = await claim(t, worker, held);
    expect(await refused(t, worker, 'updateTask', held, 409, under(again, DONE))).toBe(
      'approval_pending',
    );
    await update(t, worker, again, { state: 'failed', error: 'rejected' });
  });

  test('is claimed once, by whoever is first of many', async () => {
    const { held, approval } = await parked();
    await later(t, held);
    await decide(approval, 'approve');
    const replies = await Promise.all(
      upTo(10).map(() =>
        t.api.raw('POST', `/v1/tasks/${held.id}/claim`, { token: worker.token, body: {} }),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(9);
  });

  test('does not fail for want of further claims: the wait was no attempt', async () => {
    const { held, approval } = await parked();
    await t.database.pool.query('UPDATE tasks SET attempts = 5 WHERE id = $1', [held.id]);
    await later(t, held);
    // What is due beside it is ended, and it is not.
    const due = await create(
      t,
      boss,
      custom(room, worker, { deadline: new Date(Date.now() + 3_600_000).toISOString() }),
    );
    await later(t, due, 3_700);
    await until('a sweep', async () => (await get(t, boss, due)).state === 'failed');
    expect((await get(t, boss, held)).state).toBe('waiting_approval');
    await decide(approval, 'approve');
    const again = await claim(t, worker, held);
    expect(again.attempts).toBe(5);
    await later(t, again);
    await until('its end', async () => (await get(t, boss, again)).state === 'failed');
  });

  test('fails with its deadline, and what was asked is closed', async () => {
    const deadline = new Date(Date.now() + 3_600_000).toISOString();
    const { held, approval } = await parked(custom(room, worker, { deadline }));
    await later(t, held, 3_700);
    await until('its end', async () => (await get(t, boss, held)).state === 'failed');
    const params = { id: approval.id };
    const { body } = await t.api.call('getApproval', { token: human.token, params, expect: 200 });
    expect(body.state).toBe('closed');
  });

  test('is in the inbox, behind what can be claimed', async () => {
    const { held } = await parked();
    await later(t, held);
    const free = await create(t, boss, order(room, worker));
    const open = (await inbox(t, worker)).map(({ id }) => id);
    expect(open).toContain(held.id);
    expect(open.indexOf(free.id)).toBeLessThan(open.indexOf(held.id));
    expect((await cancel(t, boss, held)).state).toBe('cancelled');
  });
});

test('approval events count in the tree, and are not refused when it is full', async () => {
  const held = await claim(t, worker, await create(t, boss, order(room, worker)));
  await t.database.pool.query('UPDATE tasks SET tree_messages = 128 WHERE id = $1', [held.id]);
  const approval = await ask(held);
  await decide(approval, 'approve');
  expect((await stored(t, held)).tree_messages).toBe(130);
});
