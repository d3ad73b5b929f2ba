import { randomUUID } from 'node:crypto';
import {
  browserOf,
  disable,
  openToken,
  registerHuman,
  startTestApi,
  type TestApi,
} from '@relayger/api/testing';
import {
  approvalOf,
  claimed,
  decided,
  expire,
  history,
  newReviewer,
  openScene,
  outcome,
  REVIEWER_SCOPES,
  requested,
  type Scene,
  tryDecide,
} from './support.js';

let t: TestApi;
let scene: Scene;
beforeAll(async () => {
  t = await startTestApi();
  scene = await openScene(t);
});
afterAll(() => t.close());

const ask = async () => requested(scene, await claimed(scene));

async function auditOf(approvalId: string) {
  const { rows } = await t.database.pool.query(
    `SELECT actor_id, action, subject_id, token_id, reason, details FROM audit_log
     WHERE details ->> 'approvalId' = $1`,
    [approvalId],
  );
  return rows;
}

test.each([
  ['approve', 'approved'],
  ['reject', 'rejected'],
] as const)(
  'the person decides to %s; the agent reads it and has it pending',
  async (decision, state) => {
    const { worker, reviewer, room } = scene;
    const made = await ask();
    const query = { consume: '1' as const, limit: 100 };
    await t.api.call('readMailbox', { token: worker.token, query, expect: 200 });
    const wait = t.api.call('readMailbox', {
      token: worker.token,
      query: { wait: 20 },
      expect: 200,
    });
    const approval = await decided(scene, made, decision);
    expect(approval.state).toBe(state);
    expect(Date.parse(approval.decidedAt ?? '')).toBeGreaterThanOrEqual(
      Date.parse(approval.createdAt),
    );
    expect(await approvalOf(scene, made.id)).toEqual(approval);
    const event = {
      type: 'approval_decision',
      payload: { approvalId: made.id },
      rootTaskId: approval.taskId,
      sender: expect.objectContaining({ id: reviewer.id, kind: 'human' }),
    };
    expect((await history(scene, worker, room)).at(-1)).toMatchObject(event);
    expect((await wait).body).toEqual([
      expect.objectContaining({ type: 'approval_decision', body: { approvalId: made.id } }),
    ]);
  },
);

test('a decision is in the audit log, with ids and without a word of what it was about', async () => {
  const { worker, reviewer } = scene;
  const made = await ask();
  const { taskId } = await decided(scene, made, 'reject');
  expect(await auditOf(made.id)).toEqual([
    {
      actor_id: reviewer.id,
      action: 'approval.decide',
      subject_id: worker.id,
      token_id: null,
      reason: null,
      details: { approvalId: made.id, taskId, decision: 'reject' },
    },
  ]);
});

test('nobody but the person who was asked decides, and who cannot see the room learns of nothing', async () => {
  const { coordinator, worker, room } = scene;
  const made = await ask();
  const [member, stranger] = [await newReviewer(t), await newReviewer(t)];
  const params = { room, identity: member.id };
  await t.api.call('addMember', { token: coordinator.token, params, expect: 201 });
  for (const { token } of [worker, coordinator, member])
    expect(await tryDecide(scene, token, made)).toBe('403 approver_required');
  expect(await tryDecide(scene, stranger.token, made)).toBe('404 not_found');
  const unknown = { ...made, id: randomUUID() };
  expect(await tryDecide(scene, scene.reviewer.token, unknown)).toBe('404 not_found');
  expect((await approvalOf(scene, made.id)).state).toBe('pending');
  expect(await auditOf(made.id)).toEqual([]);
});

test('the own token of a person does not decide; one that an administrator issues does', async () => {
  const { coordinator, room } = scene;
  const admin = await registerHuman(t);
  await t.database.pool.query(`UPDATE identities SET role = 'admin' WHERE id = $1`, [admin.id]);
  const operator = await openToken(t, admin, { scopes: ['admin'] });
  const owner = await registerHuman(t);
  await t.database.pool.query('UPDATE identities SET owner_id = $1 WHERE id = $2', [
    owner.id,
    scene.worker.id,
  ]);
  const params = { room, identity: owner.id };
  await t.api.call('addMember', { token: coordinator.token, params, expect: 201 });
  const made = await requested(scene, await claimed(scene), { approverId: owner.id });
  // Owning the agent that asks gives nothing either.
  expect(await tryDecide(scene, owner.token, made)).toBe('403 insufficient_scope');
  const issued = await t.api.call('issueToken', {
    token: operator,
    body: { identityId: owner.id, scopes: ['read', 'approvals'], reason: 'reviews for the lab' },
    expect: 201,
  });
  expect(await tryDecide(scene, issued.body.token, made)).toBe('200');
});

test('a browser that was signed in with such a token decides, from the own origin only', async () => {
  const { reviewer } = scene;
  const opened = await t.api.call('openWebSession', {
    token: reviewer.token,
    headers: { origin: t.origin },
    body: {},
    expect: 201,
  });
  const browser = browserOf(t.origin, opened);
  const made = await ask();
  const path = `/v1/approvals/${made.id}/decide`;
  const body = { decision: 'approve', hash: made.payloadHash };
  const foreign = { ...browser, origin: 'https://elsewhere.example' };
  expect(outcome(await t.api.raw('POST', path, { headers: foreign, body }))).toBe(
    '403 origin_not_allowed',
  );
  expect(outcome(await t.api.raw('POST', path, { headers: browser, body }))).toBe('200');
});

test('a wrong hash decides nothing', async () => {
  const { reviewer } = scene;
  const made = await ask();
  const other = await ask();
  const flipped = (made.payloadHash.startsWith('0') ? '1' : '0') + made.payloadHash.slice(1);
  for (const payloadHash of [flipped, other.payloadHash])
    expect(await tryDecide(scene, reviewer.token, { ...made, payloadHash })).toBe(
      '409 approval_hash_mismatch',
    );
  for (const payloadHash of ['', made.payloadHash.toUpperCase(), `${made.payloadHash}0`])
    expect(await tryDecide(scene, reviewer.token, { ...made, payloadHash })).toBe('400 body.hash');
  expect((await approvalOf(scene, made.id)).state).toBe('pending');
  await decided(scene, made);
});

test.each<[string, object, string]>([
  ['no decision', { decision: undefined }, 'body.decision'],
  ['another word', { decision: 'yes' }, 'body.decision'],
  ['a reason', { reason: 'looks good' }, 'body'],
  ['no hash', { hash: undefined }, 'body.hash'],
])('a decision with %s is malformed', async (_, change, path) => {
  const made = await ask();
  const body = { decision: 'approve', hash: made.payloadHash, ...change };
  const reply = await t.api.raw('POST', `/v1/approvals/${made.id}/decide`, {
    token: scene.reviewer.token,
    body,
  });
  expect(outcome(reply)).toBe(`400 ${path}`);
});

test('a decision is final', async () => {
  const { reviewer, worker, room } = scene;
  const made = await ask();
  await decided(scene, made, 'reject');
  const last = (await history(scene, worker, room)).at(-1);
  for (const decision of ['reject', 'approve'] as const)
    expect(await tryDecide(scene, reviewer.token, made, decision)).toBe('409 approval_decided');
  expect((await approvalOf(scene, made.id)).state).toBe('rejected');
  expect((await history(scene, worker, room)).at(-1)).toEqual(last);
});

test('of fifty decisions at once one counts, and it is the one that is told', async () => {
  const { reviewer, worker, room } = scene;
  const replica = await t.replica();
  const made = await ask();
  const path = `/v1/approvals/${made.id}/decide`;
  const replies = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const { api } = n % 2 ? t : replica;
      const decision = n % 3 ? 'approve' : 'reject';
      const body = { decision, hash: made.payloadHash };
      return { decision, reply: await api.raw('POST', path, { token: reviewer.token, body }) };
    }),
  );
  await replica.close();
  const won = replies.filter(({ reply }) => reply.status === 200);
  expect(won).toHaveLength(1);
  for (const { reply } of replies.filter((one) => !won.includes(one)))
    expect(outcome(reply)).toBe('409 approval_decided');
  const { state } = await approvalOf(scene, made.id);
  expect(state).toBe(won[0]?.decision === 'approve' ? 'approved' : 'rejected');
  expect(await auditOf(made.id)).toHaveLength(1);
  const events = (await history(scene, worker, room)).filter(
    ({ type, payload }) =>
      type === 'approval_decision' && (payload as { approvalId: string }).approvalId === made.id,
  );
  expect(events).toHaveLength(1);
});

test('what has expired cannot be decided, whatever the sweep has done', async () => {
  const made = await ask();
  await expire(scene, made);
  expect((await approvalOf(scene, made.id)).state).toBe('expired');
  expect(await tryDecide(scene, scene.reviewer.token, made)).toBe('409 approval_expired');
  const approval = await approvalOf(scene, made.id);
  expect(approval).not.toHaveProperty('decidedAt');
  expect(approval.payloadHash).toBe(made.payloadHash);
});

test('a person who was disabled or has left decides nothing; one who comes back can', async () => {
  const { coordinator, room } = scene;
  const [gone, away] = [await newReviewer(t), await newReviewer(t)];
  for (const { id } of [gone, away]) {
    const params = { room, identity: id };
    await t.api.call('addMember', { token: coordinator.token, params, expect: 201 });
  }
  const first = await requested(scene, await claimed(scene), { approverId: gone.id });
  const second = await requested(scene, await claimed(scene), { approverId: away.id });
  await disable(t, gone);
  expect(await tryDecide(scene, gone.token, first)).toBe('401 unauthorized');
  await t.api.call('leaveRoom', { token: away.token, params: { room }, body: {}, expect: 200 });
  expect(await tryDecide(scene, away.token, second)).toBe('404 not_found');
  const params = { room, identity: away.id };
  await t.api.call('addMember', { token: coordinator.token, params, expect: 201 });
  expect(await tryDecide(scene, away.token, second)).toBe('200');
});

test('a token that is limited to other rooms decides nothing here', async () => {
  const { reviewer, room } = scene;
  const made = await ask();
  const limited = (roomIds: string[]) =>
    openToken(t, reviewer, { scopes: REVIEWER_SCOPES, roomIds });
  expect(await tryDecide(scene, await limited([]), made)).toBe('404 not_found');
  expect(await tryDecide(scene, await limited([room]), made)).toBe('200');
});
