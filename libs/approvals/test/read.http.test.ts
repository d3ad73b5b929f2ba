import { randomUUID } from 'node:crypto';
import { openToken, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { ApprovalState } from '@relayger/protocol';
import {
  approvalOf,
  claimed,
  decided,
  expire,
  newReviewer,
  openScene,
  outcome,
  REVIEWER_SCOPES,
  requested,
  type Scene,
  tryUpdate,
} from './support.js';

let t: TestApi;
let scene: Scene;
beforeAll(async () => {
  t = await startTestApi();
  scene = await openScene(t);
});
afterAll(() => t.close());

async function read(id: string, token: string): Promise<string> {
  return outcome(await t.api.raw('GET', `/v1/approvals/${id}`, { token }));
}

async function listed(
  { token }: Pick<TestAgent, 'token'>,
  state?: ApprovalState,
): Promise<string[]> {
  const query = state ? { state } : {};
  const { body } = await t.api.call('listApprovals', { token, query, expect: 200 });
  return body.map(({ id }) => id);
}

test('whoever asked and whoever was asked read it, while they are in the room; nobody else does', async () => {
  const { coordinator, worker, room } = scene;
  const [member, stranger, leaver] = [
    await newReviewer(t),
    await newReviewer(t),
    await newReviewer(t),
  ];
  for (const { id } of [member, leaver]) {
    const params = { room, identity: id };
    await t.api.call('addMember', { token: coordinator.token, params, expect: 201 });
  }
  const { id } = await requested(scene, await claimed(scene), { approverId: leaver.id });
  expect(await read(id, worker.token)).toBe('200');
  expect(await read(id, leaver.token)).toBe('200');
  for (const { token } of [coordinator, member, stranger])
    expect(await read(id, token)).toBe('404 not_found');
  expect(await read(randomUUID(), worker.token)).toBe('404 not_found');
  expect(await read('1', worker.token)).toBe('400 params.id');
  expect(await listed(leaver)).toEqual([id]);
  expect(await listed(member)).toEqual([]);

  await t.api.call('leaveRoom', { token: leaver.token, params: { room }, body: {}, expect: 200 });
  expect(await read(id, leaver.token)).toBe('404 not_found');
  expect(await listed(leaver)).toEqual([]);
});

test('reading needs a token with approvals that reaches the room', async () => {
  const { worker, room } = scene;
  const { id } = await requested(scene, await claimed(scene));
  const narrow = await openToken(t, worker, { scopes: ['read', 'write', 'tasks'] });
  expect(await read(id, narrow)).toBe('403 insufficient_scope');
  expect(outcome(await t.api.raw('GET', '/v1/approvals', { token: narrow }))).toBe(
    '403 insufficient_scope',
  );
  const elsewhere = await openToken(t, worker, { roomIds: [] });
  expect(await read(id, elsewhere)).toBe('404 not_found');
  expect(await listed({ token: elsewhere })).toEqual([]);
  const here = await openToken(t, worker, { scopes: ['approvals'], roomIds: [room] });
  expect(await read(id, here)).toBe('200');
  expect(await listed({ token: here })).toContain(id);
});

test('the list has what one asked and is asked, newest first, of one state if wished', async () => {
  const own = await openScene(t);
  const made: Record<string, string> = {};
  const ask = async () => requested(own, await claimed(own));
  const approved = await ask();
  await decided(own, approved);
  made.approved = approved.id;
  const rejected = await ask();
  await decided(own, rejected, 'reject');
  made.rejected = rejected.id;
  const expired = await ask();
  await expire(own, expired);
  made.expired = expired.id;
  const lease = await claimed(own);
  made.closed = (await requested(own, lease)).id;
  await tryUpdate(own, lease, 'failed');
  made.pending = (await ask()).id;

  const newestFirst = Object.values(made).reverse();
  for (const who of [own.worker, own.reviewer]) {
    expect(await listed(who)).toEqual(newestFirst);
    for (const [state, id] of Object.entries(made))
      expect(await listed(who, state as ApprovalState)).toEqual([id]);
  }
  expect(await listed(own.coordinator)).toEqual([]);
  const { body } = await t.api.call('listApprovals', { token: own.reviewer.token, expect: 200 });
  for (const one of body) expect(one).toEqual(await approvalOf(own, one.id));
  const wrong = await t.api.raw('GET', '/v1/approvals?state=open', { token: own.worker.token });
  expect(outcome(wrong)).toBe('400 query.state');
});

test('the list ends after the newest hundred', async () => {
  const own = await openScene(t);
  const { id } = await requested(own, await claimed(own));
  await t.database.pool.query(
    `INSERT INTO approvals (id, task_id, room_id, requester_id, approver_id, description, action, version, expires_in,
                            payload_hash, expires_at, state)
     SELECT gen_random_uuid(), task_id, room_id, requester_id, approver_id, description, action, version, expires_in,
            payload_hash, expires_at, 'expired'
     FROM approvals, generate_series(1, 105) WHERE id = $1`,
    [id],
  );
  const { rows } = await t.database.pool.query<{ id: string }>(
    'SELECT id FROM approvals WHERE requester_id = $1 ORDER BY id DESC LIMIT 100',
    [own.worker.id],
  );
  expect(await listed(own.worker)).toEqual(rows.map((row) => row.id));
  expect(await listed(own.reviewer, 'pending')).toEqual([id]);
});

test('an expiry that comes is seen at once, by state too', async () => {
  const own = await openScene(t);
  const made = await requested(own, await claimed(own));
  expect(await listed(own.reviewer, 'pending')).toEqual([made.id]);
  await expire(own, made);
  expect(await listed(own.reviewer, 'pending')).toEqual([]);
  expect(await listed(own.reviewer, 'expired')).toEqual([made.id]);
  const token = await openToken(t, own.reviewer, { scopes: REVIEWER_SCOPES });
  expect(await read(made.id, token)).toBe('200');
});
