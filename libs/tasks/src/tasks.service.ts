import { Injectable } from '@nestjs/common';
import { type Principal, type Sql, type Transaction } from '@relayger/kernel';
import { MessagesService } from '@relayger/messages';
import { fail, LIMITS } from '@relayger/protocol';
import { holdForWork, type Lease, requireLease } from './lease-rules.js';
import { addTreeMessage } from './sql/count-message.js';
import { lockRootTask } from './sql/lock-root.js';
import { lockTaskAndRoot } from './sql/lock-task.js';
import { selectRecord } from './sql/select-task.js';
import { type FinishHook, type TaskApprovals, TaskHooks } from './task-hooks.js';
import { type TaskRecord, toRecord } from './task-record.js';

/** Tasks as other features see them. Locks are taken in the order root task, task, approval, room, membership. */
@Injectable()
export class TasksService {
  constructor(
    messages: MessagesService,
    private readonly hooks: TaskHooks,
  ) {
    messages.useRootTasks({
      lock: lockRootTask,
      countMessage: async (sql, taskId) => {
        if (!(await addTreeMessage(sql, taskId, LIMITS.treeMessages))) fail('task_tree_limit');
      },
    });
  }

  /** Approvals build on tasks, so they say themselves what stands between a task and its completion. */
  useApprovals(approvals: TaskApprovals): void {
    this.hooks.useApprovals(approvals);
  }

  /** Runs inside the transaction in which a task is completed, fails or is cancelled, with the task held. */
  onFinish(hook: FinishHook): void {
    this.hooks.onFinish(hook);
  }

  /** A task, whoever asks; null when there is none. */
  async record(sql: Sql, taskId: string): Promise<TaskRecord | null> {
    const row = await selectRecord(sql, taskId);
    return row && toRecord(row);
  }

  /** Holds a task, whoever asks, until the end of the transaction; null when there is none. */
  async lock(sql: Transaction, taskId: string): Promise<TaskRecord | null> {
    const held = await lockTaskAndRoot(sql, taskId, null);
    return held && toRecord(held.task);
  }

  /**
   * Holds a task until the end of the transaction, for the worker that has leased it.
   * @throws RelaygerError `not_found` (also for one that has left the room), `task_assignee_required`,
   *   `task_finished`, `lease_lost`, `version_conflict`
   */
  async lockLeased(
    sql: Transaction,
    caller: Principal,
    taskId: string,
    lease: Lease,
  ): Promise<TaskRecord> {
    const { task } = await holdForWork(sql, caller, taskId);
    requireLease(caller, task, lease);
    return toRecord(task);
  }

  /**
   * Counts an event of a task among the messages of its root. Events of what has already begun are never refused:
   * whoever fills a tree with messages must not keep its tasks from ending. Hold the task (`lock`, `lockLeased`).
   */
  async countEvent(
    sql: Transaction,
    { rootTaskId }: Pick<TaskRecord, 'rootTaskId'>,
  ): Promise<void> {
    await addTreeMessage(sql, rootTaskId);
  }
}
