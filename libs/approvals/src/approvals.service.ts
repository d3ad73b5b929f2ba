import { Injectable } from '@nestjs/common';
import { FilesService } from '@relayger/files';
import { Database, type Principal, recordAudit, type Transaction } from '@relayger/kernel';
import { AppenderService } from '@relayger/messages';
import {
  type Approval,
  type ApprovalState,
  canonicalJson,
  type DecideApprovalRequest,
  fail,
  failField,
  type RequestApprovalRequest,
  type RequestedApproval,
} from '@relayger/protocol';
import { RoomsService } from '@relayger/rooms';
import { type TaskRecord, TasksService } from '@relayger/tasks';
import { v7 as uuid } from 'uuid';
import { type ApprovalRow, toApproval } from './approval.js';
import { payloadHash } from './payload-hash.js';
import { decidePending } from './sql/decide-approval.js';
import { endPendingApproval } from './sql/end-approvals.js';
import { selectApproval, selectPending } from './sql/get-approval.js';
import { selectGate } from './sql/get-gate.js';
import { expiryIn, insertApproval } from './sql/insert-approval.js';
import { isApprover } from './sql/is-approver.js';
import { selectApprovals } from './sql/list-approvals.js';
import { selectReviewedFiles } from './sql/list-reviewed-files.js';

/** What people decide before a task may be completed. A decision is a record: nothing is executed because of it. */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly database: Database,
    private readonly appender: AppenderService,
    private readonly rooms: RoomsService,
    private readonly tasks: TasksService,
    private readonly files: FilesService,
  ) {
    tasks.useApprovals({ state: selectGate });
    tasks.onFinish((sql, task) => endPendingApproval(sql, task.id));
    // What a person is looking at stays until they have decided.
    files.onUse(selectReviewedFiles);
  }

  /**
   * Asks a person for a decision, under the caller's lease on the task.
   * @returns the approval, and whether it was the pending one already
   * @throws RelaygerError what `TasksService.lockLeased` throws, `invalid_request` (approver, file),
   *   `approval_pending` when another one waits, `contact_required`, `contact_unavailable`
   */
  request(
    caller: Principal,
    body: RequestApprovalRequest,
  ): Promise<{ approval: RequestedApproval; repeated: boolean }> {
    const { taskId, approverId, version, leaseOwner } = body;
    return this.appender.appending(async (sql) => {
      const task = await this.tasks.lockLeased(sql, caller, taskId, { version, leaseOwner });
      // Only agents have tasks, so nobody can ask themselves.
      if (!(await isApprover(sql, task.roomId, approverId)))
        failField('body.approverId', "must be an active human member of the task's room");
      const waiting = await selectPending(sql, taskId);
      if (waiting?.state === 'pending') {
        if (isRepeat(waiting, body)) return { approval: toRequested(waiting), repeated: true };
        // One that its approver cannot decide any more gives way.
        if (await isApprover(sql, task.roomId, waiting.approver_id)) fail('approval_pending');
      }
      if (waiting) await endPendingApproval(sql, taskId);
      return { approval: await this.store(sql, caller, task, body), repeated: false };
    });
  }

  private async store(
    sql: Transaction,
    caller: Principal,
    task: TaskRecord,
    { expiresIn, leaseOwner: _, ...request }: RequestApprovalRequest,
  ): Promise<RequestedApproval> {
    const id = uuid();
    await this.tell(sql, caller, task, 'approval_request', id);
    // The append holds the room, so the file cannot go before the approval is there to keep it.
    if (request.action.kind === 'publish_artifact')
      await this.files.requireReady(sql, task.roomId, request.action.fileId, 'body.action.fileId');
    const expiresAt = await expiryIn(sql, expiresIn);
    const hash = payloadHash({ ...request, expiresAt: expiresAt.toISOString() });
    await insertApproval(sql, {
      ...request,
      id,
      roomId: task.roomId,
      requesterId: caller.identityId,
      expiresIn,
      expiresAt,
      payloadHash: hash,
    });
    return {
      id,
      payloadHash: hash.toString('hex'),
      state: 'pending',
      expiresAt: expiresAt.toISOString(),
    };
  }

  /** The approvals that the caller requested or is asked for, newest first, as far as its token reaches. */
  async list(caller: Principal, state: ApprovalState | undefined): Promise<Approval[]> {
    const { identityId, roomIds } = caller;
    return (await selectApprovals(this.database, identityId, roomIds, state)).map(toApproval);
  }

  /** @throws RelaygerError `not_found` also for those who neither requested it nor are asked, or have left */
  async get(caller: Principal, id: string): Promise<Approval> {
    const row = await this.find(caller, id);
    if (![row.requester_id, row.approver_id].includes(caller.identityId)) fail('not_found');
    return toApproval(row);
  }

  /**
   * Writes down what the caller has decided, once.
   * @throws RelaygerError `not_found`, `approver_required` for other members, `approval_decided`, `approval_expired`,
   *   `approval_closed`, `approval_hash_mismatch`, `contact_required`, `contact_unavailable`
   */
  async decide(
    caller: Principal,
    id: string,
    { decision, hash }: DecideApprovalRequest,
  ): Promise<Approval> {
    // Every member has read in the room that there is this approval.
    const { approver_id, task_id } = await this.find(caller, id);
    if (approver_id !== caller.identityId) fail('approver_required');
    return this.appender.appending(async (sql) => {
      const task = await this.tasks.lock(sql, task_id);
      const approval = await selectApproval(sql, id);
      if (!task || !approval) throw new Error('tasks and approvals are not deleted');
      requireDecidable(approval);
      if (approval.payload_hash.toString('hex') !== hash) fail('approval_hash_mismatch');
      const state = decision === 'approve' ? 'approved' : 'rejected';
      const decided = (await decidePending(sql, id, state)) ?? fail('approval_expired');
      await recordAudit(sql, {
        actorId: caller.identityId,
        action: 'approval.decide',
        subjectId: approval.requester_id,
        details: { approvalId: id, taskId: task.id, decision },
      });
      // Takes the room: whoever has left by now, or is behind a block, has decided nothing.
      await this.tell(sql, caller, task, 'approval_decision', id);
      return toApproval(decided);
    });
  }

  /** Tells the room of a task that is held. */
  private async tell(
    sql: Transaction,
    { identityId, kind }: Principal,
    task: TaskRecord,
    type: 'approval_request' | 'approval_decision',
    approvalId: string,
  ): Promise<void> {
    await this.tasks.countEvent(sql, task);
    await this.appender.appendEvent(sql, {
      roomId: task.roomId,
      sender: { id: identityId, human: kind === 'human' },
      type,
      payload: { approvalId },
      rootTaskId: task.rootTaskId,
    });
  }

  /** An approval of a room that the caller may read. */
  private async find(caller: Principal, id: string): Promise<ApprovalRow> {
    const row = (await selectApproval(this.database, id)) ?? fail('not_found');
    await this.rooms.access(caller, row.room_id);
    return row;
  }
}

/** Whether a request asks again for what is pending. Version and lease only show that the caller may ask. */
function isRepeat(
  waiting: ApprovalRow,
  { approverId, description, action, expiresIn }: RequestApprovalRequest,
): boolean {
  return (
    waiting.approver_id === approverId &&
    waiting.description === description &&
    waiting.expires_in === expiresIn &&
    canonicalJson(waiting.action) === canonicalJson(action)
  );
}

/** @throws RelaygerError `approval_decided`, `approval_expired`, `approval_closed` */
function requireDecidable({ state }: ApprovalRow): void {
  if (state === 'approved' || state === 'rejected') fail('approval_decided');
  if (state === 'expired') fail('approval_expired');
  if (state === 'closed') fail('approval_closed');
}

function toRequested(row: ApprovalRow): RequestedApproval {
  const { id, payloadHash, expiresAt } = toApproval(row);
  return { id, payloadHash, state: 'pending', expiresAt };
}
