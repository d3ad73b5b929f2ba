import { Injectable } from '@nestjs/common';
import { FilesService } from '@relayger/files';
import { Database, type Principal, type Sql, type Transaction } from '@relayger/kernel';
import { AppenderService, MessagesService } from '@relayger/messages';
import { fail, LIMITS, type Task } from '@relayger/protocol';
import { holdForWork, type Lease, requireLease } from './lease-rules.js';
import { cancelTree } from './sql/cancel-tree.js';
import { addTreeMessage } from './sql/count-message.js';
import { selectInbox } from './sql/list-inbox.js';
import { lockRootTask } from './sql/lock-root.js';
import { lockTaskAndRoot } from './sql/lock-task.js';
import { selectRecord, selectTask, selectToCancel } from './sql/select-task.js';
import { selectUsedFiles } from './sql/task-files.js';
import { type FinishHook, type TaskApprovals, TaskHooks } from './task-hooks.js';
import { isFinished, type TaskRecord, toRecord, toTask } from './task-record.js';

/** Tasks as those see them who do not work on them, and as other features do. Locks are taken in the order root task, task, approval, room, membership. */
@Injectable()
export class TasksService {
  constructor(
    private readonly database: Database,
    private readonly appender: AppenderService,
    private readonly hooks: TaskHooks,
    messages: MessagesService,
    files: FilesService,
  ) {
    messages.useRootTasks({
      lock: lockRootTask,
      countMessage: async (sql, taskId) => {
        if (!(await addTreeMessage(sql, taskId, LIMITS.treeMessages))) fail('task_tree_limit');
      },
    });
    files.onUse((sql, _room, fileIds) => selectUsedFiles(sql, fileIds));
  }

  /**
   * A task as the members of its room see it.
   * @throws RelaygerError `not_found`
   */
  async get(caller: Principal, taskId: string): Promise<Task> {
    const row = await selectTask(this.database, taskId, caller);
    return row ? toTask(row) : fail('not_found');
  }

  /** Open tasks that are assigned to the caller: what can be claimed first, oldest first. */
  async inbox(caller: Principal, limit: number = LIMITS.tasksListed): Promise<Task[]> {
    return (await selectInbox(this.database, caller, limit)).map((row) => toTask(row));
  }

  /**
   * Cancels a task and its open subtasks, also while somebody works on them.
   * @throws RelaygerError `not_found`, `task_creator_required`, `task_finished`
   */
  async cancel(caller: Principal, taskId: string): Promise<Task> {
    const known = (await selectToCancel(this.database, taskId, caller)) ?? fail('not_found');
    if (!known.may_cancel) fail('task_creator_required');
    return this.appender.appending(async (sql) => {
      const held = (await lockTaskAndRoot(sql, taskId, caller)) ?? fail('not_found');
      if (held.task.state === 'cancelled') return toTask(held.task);
      if (isFinished(held.task)) fail('task_finished');
      const cancelled = await cancelTree(sql, taskId, held.root.id);
      for (const row of cancelled) await this.hooks.finished(sql, toRecord(row));
      const row = cancelled.find(({ id }) => id === taskId);
      if (!row) throw new Error('a task that is held was not cancelled');
      return toTask(row);
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
