import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Principal, type Transaction } from '@relayger/kernel';
import { AppenderService } from '@relayger/messages';
import {
  type CreateTaskRequest,
  canonicalJson,
  fail,
  failField,
  LIMITS,
  type Task,
} from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { requireLease } from './lease-rules.js';
import { checkNewTask } from './sql/check-new-task.js';
import { selectByKey } from './sql/find-by-key.js';
import { insertTask } from './sql/insert-task.js';
import { type HeldTask, lockTaskAndRoot } from './sql/lock-task.js';
import { linkFiles } from './sql/task-files.js';
import { type TaskRow, toTask } from './task-record.js';
import { summaryOf } from './task-summary.js';

export interface CreatedTask {
  task: Task;
  /** True when this key had created it before. */
  repeated: boolean;
}

/** How tasks come into being: with their event in the room, or not at all. */
@Injectable()
export class TaskCreationService {
  constructor(private readonly appender: AppenderService) {}

  /**
   * Creates a task, or finds the one that this key has created.
   * @throws RelaygerError `not_found`, `invalid_request` (assignee, deadline, parent of another room),
   *   `contact_required`, `contact_unavailable`, `idempotency_conflict`, `task_tree_limit`, and for the lease on the
   *   parent `task_assignee_required`, `task_finished`, `lease_lost`, `version_conflict`
   */
  create(caller: Principal, request: CreateTaskRequest): Promise<CreatedTask> {
    return this.appender.appending((sql) => createIn(sql, this.appender, caller, request));
  }
}

async function createIn(
  sql: Transaction,
  appender: AppenderService,
  caller: Principal,
  request: CreateTaskRequest,
): Promise<CreatedTask> {
  const { roomId, assigneeId, clientTaskId, input } = request;
  const deadline = input.operation === 'custom' && input.deadline ? new Date(input.deadline) : null;
  const aim = { roomId, assigneeId, deadline };
  const check = (await checkNewTask(sql, caller, aim)) ?? fail('not_found');
  // Also for a task that is there already: who has lost the parent has no business with its subtasks.
  const parent = await holdParent(sql, caller, request);

  const fingerprint = fingerprintOf(request);
  const prior = await selectByKey(sql, caller.identityId, clientTaskId);
  if (prior) return repeated(prior, fingerprint);
  if (check.gate !== 'open')
    fail(check.gate === 'closed' ? 'contact_required' : 'contact_unavailable');
  if (!check.assignable) failField('body.assigneeId', NOT_ASSIGNABLE);
  if (!check.in_time) failField('body.input.deadline', 'must be later than now');
  if (parent) requireRoomInTree(parent);

  const row = await insertTask(sql, {
    id: uuid(),
    roomId,
    creatorId: caller.identityId,
    clientTaskId,
    fingerprint,
    assigneeId,
    parent: parent && {
      id: parent.task.id,
      rootId: parent.root.id,
      depth: parent.task.depth,
    },
    input: JSON.stringify(input),
    deadline,
  });
  if (!row) {
    // A parallel request with this key has won, and has committed.
    const winner = await selectByKey(sql, caller.identityId, clientTaskId);
    if (!winner) throw new Error('tasks are never deleted');
    return repeated(winner, fingerprint);
  }
  await announce(sql, appender, caller, row);
  return { task: toTask(row), repeated: false };
}

const NOT_ASSIGNABLE = 'must be the UUID of an active agent that is a member of the room';

/** The event in the room, and what can only be said while its row is held: who is in it, and what uses its files. */
async function announce(
  sql: Transaction,
  appender: AppenderService,
  caller: Principal,
  row: TaskRow,
): Promise<void> {
  await appender.appendEvent(sql, {
    roomId: row.room_id,
    sender: { id: caller.identityId, human: caller.kind === 'human' },
    type: 'task',
    payload: { taskId: row.id, summary: summaryOf(row.input) },
    rootTaskId: row.root_id,
  });
  const aim = { roomId: row.room_id, assigneeId: row.assignee_id, deadline: null };
  const now = await checkNewTask(sql, caller, aim);
  if (!now?.assignable) failField('body.assigneeId', NOT_ASSIGNABLE);
  await linkFiles(sql, row, row.input);
}

/** Holds the parent for the worker that has leased it; null for a root task. */
async function holdParent(
  sql: Transaction,
  caller: Principal,
  { roomId, parentTaskId, parentVersion = '', parentLeaseOwner = '' }: CreateTaskRequest,
): Promise<HeldTask | null> {
  if (parentTaskId === undefined) return null;
  const held = await lockTaskAndRoot(sql, parentTaskId, caller);
  if (held?.task.room_id !== roomId) failField('body.parentTaskId', 'names no task of this room');
  requireLease(caller, held.task, { version: parentVersion, leaseOwner: parentLeaseOwner });
  return held;
}

/** @throws RelaygerError `task_tree_limit` */
function requireRoomInTree({ task, root }: HeldTask): void {
  if (
    task.depth >= LIMITS.taskDepth ||
    root.tree_tasks >= LIMITS.treeTasks ||
    root.tree_messages >= LIMITS.treeMessages
  )
    fail('task_tree_limit');
}

/** What one key of a creator stands for. The proof that the parent is held is no part of it. */
function fingerprintOf({ roomId, assigneeId, input, parentTaskId }: CreateTaskRequest): Buffer {
  const content = canonicalJson({ roomId, assigneeId, input, parentTaskId });
  return createHash('sha256').update(content).digest();
}

function repeated(row: TaskRow & { fingerprint: Buffer }, fingerprint: Buffer): CreatedTask {
  if (!row.fingerprint.equals(fingerprint)) fail('idempotency_conflict');
  return { task: toTask(row), repeated: true };
}
