import type { Task, TaskInput, TaskProgress, TaskResult, TaskState } from '@relayger/protocol';

/** A task as the database has it. */
export interface TaskRow {
  id: string;
  room_id: string;
  creator_id: string;
  client_task_id: string;
  assignee_id: string;
  parent_id: string | null;
  root_id: string;
  depth: number;
  input: TaskInput;
  state: TaskState;
  /** A decimal string. */
  version: string;
  lease_owner: string | null;
  lease_until: Date | null;
  attempts: number;
  progress: Omit<TaskProgress, 'at'> | null;
  progress_at: Date | null;
  result: TaskResult | null;
  error: string | null;
  created_at: Date;
  updated_at: Date;
}

/** The columns of a `TaskRow`, of a table that the statement calls t. */
export const TASK_COLUMNS = `t.id, t.room_id, t.creator_id, t.client_task_id, t.assignee_id, t.parent_id, t.root_id,
  t.depth, t.input, t.state, t.version, t.lease_owner, t.lease_until, t.attempts, t.progress, t.progress_at, t.result,
  t.error, t.created_at, t.updated_at`;

/** What other features may know of a task. */
export interface TaskRecord {
  id: string;
  roomId: string;
  creatorId: string;
  assigneeId: string;
  /** Null for a root task. */
  parentTaskId: string | null;
  /** The task itself for a root task. */
  rootTaskId: string;
  /** 1 for a root task. */
  depth: number;
  input: TaskInput;
  state: TaskState;
  /** A decimal string. */
  version: string;
  /** The claim that holds the task, or that finished it. */
  leaseOwner: string | null;
  leaseUntil: Date | null;
  attempts: number;
}

export function toRecord(row: TaskRow): TaskRecord {
  return {
    id: row.id,
    roomId: row.room_id,
    creatorId: row.creator_id,
    assigneeId: row.assignee_id,
    parentTaskId: row.parent_id,
    rootTaskId: row.root_id,
    depth: row.depth,
    input: row.input,
    state: row.state,
    version: row.version,
    leaseOwner: row.lease_owner,
    leaseUntil: row.lease_until,
    attempts: row.attempts,
  };
}

/** Whether nothing more can happen to a task. */
export function isFinished({ state }: Pick<TaskRow, 'state'>): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}

/**
 * A task as the contract has it.
 * @param holder true for whoever holds the lease: nobody else is told its owner
 */
export function toTask(row: TaskRow, holder = false): Task {
  const inWork = row.state === 'running' || row.state === 'waiting_approval';
  return {
    id: row.id,
    roomId: row.room_id,
    creatorId: row.creator_id,
    assigneeId: row.assignee_id,
    parentTaskId: row.parent_id,
    rootTaskId: row.root_id,
    depth: row.depth,
    clientTaskId: row.client_task_id,
    input: row.input,
    state: row.state,
    version: row.version,
    ...(holder && row.lease_owner !== null && { leaseOwner: row.lease_owner }),
    ...(inWork && row.lease_until !== null && { leaseUntil: row.lease_until.toISOString() }),
    attempts: row.attempts,
    ...(row.progress !== null &&
      row.progress_at !== null && {
        progress: { ...row.progress, at: row.progress_at.toISOString() },
      }),
    ...(row.result !== null && { result: row.result }),
    ...(row.error !== null && { error: row.error }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
