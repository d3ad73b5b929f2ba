import { createHash, randomUUID } from 'node:crypto';
import {
  openToken,
  registerHuman,
  seedAgents,
  type TestAgent,
  type TestApi,
  type TestHuman,
} from '@relayger/api/testing';
import {
  type Approval,
  approvalPayload,
  HUMAN_SCOPES,
  type Message,
  type RequestApprovalRequest,
  type RequestedApproval,
  type Task,
} from '@relayger/protocol';

/** A room of an agent that gives work, one that does it, and a person whose token may decide. */
export interface Scene {
  t: TestApi;
  room: string;
  coordinator: TestAgent;
  worker: TestAgent;
  reviewer: TestHuman;
}

export const REVIEWER_SCOPES = [...HUMAN_SCOPES, 'approvals'] as const;

export async function openScene(t: TestApi): Promise<Scene> {
  const [coordinator, worker] = (await crowd(t, 2)) as [TestAgent, TestAgent];
  const reviewer = await newReviewer(t);
  const room = await group(t, coordinator, [worker, reviewer]);
  return { t, room, coordinator, worker, reviewer };
}

/** As many agents as a test needs, without the cost of registering them. */
export function crowd(t: TestApi, count: number): Promise<TestAgent[]> {
  return seedAgents(
    t,
    Array.from({ length: count }, () => `c-${randomUUID()}`),
  );
}

/** A person with a token that may decide, as an operator issues one. */
export async function newReviewer(t: TestApi): Promise<TestHuman> {
  const human = await registerHuman(t);
  return { ...human, token: await openToken(t, human, { scopes: REVIEWER_SCOPES }) };
}

export async function group(
  t: TestApi,
  owner: TestAgent,
  members: readonly TestAgent[],
): Promise<string> {
  const options = { token: owner.token, body: { name: 'lab' }, expect: 201 as const };
  const { body } = await t.api.call('createRoom', options);
  for (const { id } of members) {
    const params = { room: body.id, identity: id };
    await t.api.call('addMember', { token: owner.token, params, expect: 201 });
  }
  return body.id;
}

/** A task of the worker that it has just claimed. */
export async function claimed({ t, room, coordinator, worker }: Scene): Promise<Lease> {
  const created = await t.api.call('createTask', {
    token: coordinator.token,
    body: {
      roomId: room,
      assigneeId: worker.id,
      clientTaskId: randomUUID(),
      input: { operation: 'echo', text: 'work' },
    },
    expect: 201,
  });
  return claim(t, worker, created.body.id);
}

export type Lease = Pick<RequestApprovalRequest, 'taskId' | 'version' | 'leaseOwner'>;

export async function claim(t: TestApi, worker: TestAgent, id: string): Promise<Lease> {
  const options = { token: worker.token, params: { id }, body: {}, expect: 200 as const };
  return toLease((await t.api.call('claimTask', options)).body);
}

function toLease({ id, version, leaseOwner }: Task): Lease {
  if (!leaseOwner) throw new Error(`the task ${id} is not leased`);
  return { taskId: id, version, leaseOwner };
}

/** The body of a request for a decision of the reviewer. */
export function asking(
  { reviewer }: Pick<Scene, 'reviewer'>,
  lease: Lease,
  more: Partial<RequestApprovalRequest> = {},
): RequestApprovalRequest {
  return {
    ...lease,
    approverId: reviewer.id,
    description: 'The result is ready for you to read',
    action: { kind: 'review_result', summary: 'Three pages about the work' },
    expiresIn: 600,
    ...more,
  };
}

/** Requests what must become a new approval. */
export async function requested(
  scene: Pick<Scene, 't' | 'worker' | 'reviewer'>,
  lease: Lease,
  more: Partial<RequestApprovalRequest> = {},
): Promise<RequestedApproval> {
  const { t, worker } = scene;
  const body = asking(scene, lease, more);
  return (await t.api.call('requestApproval', { token: worker.token, body, expect: 201 })).body;
}

/** Requests, whatever comes of it: the status with the code, or the path of the first issue. */
export async function tryRequest(
  { t, worker }: Pick<Scene, 't' | 'worker'>,
  body: unknown,
  token = worker.token,
): Promise<string> {
  return outcome(await t.api.raw('POST', '/v1/approvals', { token, body }));
}

/** Decides, whatever comes of it. */
export async function tryDecide(
  { t }: Pick<Scene, 't'>,
  token: string,
  { id, payloadHash }: Pick<RequestedApproval, 'id' | 'payloadHash'>,
  decision: 'approve' | 'reject' = 'approve',
): Promise<string> {
  const body = { decision, hash: payloadHash };
  return outcome(await t.api.raw('POST', `/v1/approvals/${id}/decide`, { token, body }));
}

/** Decides what can still be decided. */
export async function decided(
  { t, reviewer }: Pick<Scene, 't' | 'reviewer'>,
  { id, payloadHash }: Pick<RequestedApproval, 'id' | 'payloadHash'>,
  decision: 'approve' | 'reject' = 'approve',
): Promise<Approval> {
  const body = { decision, hash: payloadHash };
  const options = { token: reviewer.token, params: { id }, body, expect: 200 as const };
  return (await t.api.call('decideApproval', options)).body;
}

export async function approvalOf(
  { t, worker }: Pick<Scene, 't' | 'worker'>,
  id: string,
): Promise<Approval> {
  const options = { token: worker.token, params: { id }, expect: 200 as const };
  return (await t.api.call('getApproval', options)).body;
}

/** Updates the task, whatever comes of it. */
export async function tryUpdate(
  { t, worker }: Pick<Scene, 't' | 'worker'>,
  { taskId, ...lease }: Lease,
  state: 'running' | 'waiting_approval' | 'completed' | 'failed',
): Promise<{ outcome: string; lease: Lease }> {
  const body = {
    ...lease,
    state,
    ...(state === 'completed' && { result: { text: 'done' } }),
    ...(state === 'failed' && { error: 'could not' }),
  };
  const reply = await t.api.raw('POST', `/v1/tasks/${taskId}/update`, {
    token: worker.token,
    body,
  });
  const { version } = reply.body as { version?: string };
  return { outcome: outcome(reply), lease: { taskId, ...lease, ...(version && { version }) } };
}

/** The approval runs out now. */
export async function expire({ t }: Pick<Scene, 't'>, { id }: { id: string }): Promise<void> {
  await t.database.pool.query(
    `UPDATE approvals SET expires_at = now() - interval '1 second' WHERE id = $1`,
    [id],
  );
}

/** The lease on the task ends now. */
export async function endLease({ t }: Pick<Scene, 't'>, { taskId }: Lease): Promise<void> {
  await t.database.pool.query(
    `UPDATE tasks SET lease_until = now() - interval '1 second' WHERE id = $1`,
    [taskId],
  );
}

/** The newest messages of a room. */
export async function history(
  { t }: Pick<Scene, 't'>,
  { token }: Pick<TestAgent, 'token'>,
  room: string,
): Promise<Message[]> {
  return (await t.api.call('listMessages', { token, params: { room }, expect: 200 })).body;
}

/** A reader's own computation of the hash. */
export function hashOf(approval: Approval): string {
  return createHash('sha256').update(approvalPayload(approval)).digest('hex');
}

interface Failed {
  error: { code: string; details?: { issues?: { path: string }[] } };
}

/** `200`, or the status with the code, or with the path of the first issue: what a row of a table names. */
export function outcome({ status, body }: { status: number; body: unknown }): string {
  if (status < 400) return String(status);
  const { error } = body as Failed;
  return `${status} ${error.details?.issues?.[0]?.path ?? error.code}`;
}
