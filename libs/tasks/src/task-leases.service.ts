import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  Batcher,
  Database,
  isRetryable,
  isUnavailable,
  type Principal,
  type Sql,
} from '@relayger/kernel';
import { AppenderService } from '@relayger/messages';
import { canonicalJson, fail, type Task, type UpdateTaskRequest } from '@relayger/protocol';
import { holdForWork, requireLease } from './lease-rules.js';
import { type ClaimItem, type ClaimRow, leaseTasks, resumeTask } from './sql/claim-tasks.js';
import { addTreeMessage } from './sql/count-message.js';
import { finishHeld } from './sql/finish-task.js';
import type { LockedTask } from './sql/lock-task.js';
import { renewLease } from './sql/renew-lease.js';
import { linkFiles } from './sql/task-files.js';
import { TaskHooks } from './task-hooks.js';
import { toRecord, toTask } from './task-record.js';

type Update<State> = Extract<UpdateTaskRequest, { state: State }>;
type Finish = Update<'completed'> | Update<'failed'>;

/** How the assignee works on a task: it claims a lease, renews it and finishes. */
@Injectable()
export class TaskLeasesService {
  private readonly claims: Batcher<ClaimItem, ClaimRow>;

  constructor(
    private readonly database: Database,
    private readonly appender: AppenderService,
    private readonly hooks: TaskHooks,
  ) {
    this.claims = new Batcher({
      run: (items) => retried(() => leaseTasks(database, items)),
      maxItems: 64,
      // One claim that waits for its task must not hold up all the others.
      maxRuns: 2,
      isolate: (error) => !isUnavailable(error),
    });
  }

  /**
   * Leases a task to its assignee.
   * @throws RelaygerError `not_found`, `contact_required`, `task_assignee_required`, `task_not_claimable`,
   *   `task_deadline_passed`
   */
  async claim(caller: Principal, taskId: string): Promise<Task> {
    const leaseOwner = randomUUID();
    const row = await this.claims.do({
      taskId,
      callerId: caller.identityId,
      allowedRooms: caller.roomIds,
      leaseOwner,
    });
    switch (row.outcome) {
      case 'claimed':
        return toTask(row, true);
      case 'no_task':
        return fail('not_found');
      case 'no_contact':
        return fail('contact_required');
      case 'not_assignee':
        return fail('task_assignee_required');
      case 'taken':
        return fail('task_not_claimable');
      case 'too_late':
        return fail('task_deadline_passed');
      case 'waiting':
        return this.resume(caller, taskId, leaseOwner);
    }
  }

  /**
   * What the worker has to say about a task that it has leased.
   * @throws RelaygerError `not_found`, `task_assignee_required`, `task_finished`, `lease_lost`, `version_conflict`,
   *   `approval_required`, `approval_pending`
   */
  update(caller: Principal, taskId: string, update: UpdateTaskRequest): Promise<Task> {
    switch (update.state) {
      case 'running':
        return update.progress
          ? this.report(caller, taskId, update, update.progress)
          : this.renew(caller, taskId, update);
      case 'waiting_approval':
        return this.wait(caller, taskId, update);
      case 'completed':
      case 'failed':
        return this.finish(caller, taskId, update);
    }
  }

  /** The task has lost its worker while it waited for an approval: it goes on once that is decided. */
  private resume(caller: Principal, taskId: string, leaseOwner: string): Promise<Task> {
    return this.appender.appending(async (sql) => {
      const { task } = await holdForWork(sql, caller, taskId);
      const { pending } = await this.hooks.approvalState(sql, task.id);
      const row = pending ? null : await resumeTask(sql, task.id, leaseOwner);
      return row ? toTask(row, true) : fail('task_not_claimable');
    });
  }

  private async renew(caller: Principal, taskId: string, update: Update<'running'>): Promise<Task> {
    const row = await renewLease(this.database, caller, taskId, update, 'running');
    return row ? toTask(row, true) : refuse(this.database, caller, taskId, update);
  }

  private report(
    caller: Principal,
    taskId: string,
    update: Update<'running'>,
    progress: NonNullable<Update<'running'>['progress']>,
  ): Promise<Task> {
    return this.appender.appending(async (sql) => {
      const row = await renewLease(sql, caller, taskId, update, 'running', progress);
      if (!row) return refuse(sql, caller, taskId, update);
      if (row.tell) {
        await this.appender.appendEvent(sql, {
          roomId: row.room_id,
          sender: { id: caller.identityId, human: false },
          type: 'progress',
          payload: { taskId: row.id, ...progress },
          rootTaskId: row.root_id,
        });
      }
      return toTask(row, true);
    });
  }

  private wait(
    caller: Principal,
    taskId: string,
    update: Update<'waiting_approval'>,
  ): Promise<Task> {
    return this.appender.appending(async (sql) => {
      const { task } = await holdForWork(sql, caller, taskId);
      requireLease(caller, task, update);
      const { pending } = await this.hooks.approvalState(sql, task.id);
      if (!pending) fail('approval_required');
      const row = await renewLease(sql, caller, task.id, update, 'waiting_approval');
      return row ? toTask(row, true) : fail('lease_lost');
    });
  }

  private finish(caller: Principal, taskId: string, update: Finish): Promise<Task> {
    return this.appender.appending(async (sql) => {
      const { task } = await holdForWork(sql, caller, taskId);
      if (isRepeated(caller, task, update)) return toTask(task, true);
      requireLease(caller, task, update);
      if (update.state === 'completed') {
        const { pending, rejected } = await this.hooks.approvalState(sql, task.id);
        if (pending || rejected) fail('approval_pending');
      }
      const row = (await finishHeld(sql, task.id, update)) ?? fail('lease_lost');
      await this.hooks.finished(sql, toRecord(row));
      if (update.state === 'completed') {
        await addTreeMessage(sql, row.root_id);
        await this.appender.appendEvent(sql, {
          roomId: row.room_id,
          sender: { id: caller.identityId, human: false },
          type: 'result',
          payload: { taskId: row.id, text: update.result.text },
          payloadPath: 'body.result.text',
          rootTaskId: row.root_id,
        });
        await linkFiles(sql, row, update.result);
      }
      return toTask(row, true);
    });
  }
}

/** Whether a task was finished by just this call before: its reply was lost, and the worker asks again. */
function isRepeated(caller: Principal, task: LockedTask, update: Finish): boolean {
  if (task.assignee_id !== caller.identityId || task.state !== update.state) return false;
  if (task.lease_owner !== update.leaseOwner) return false;
  if (BigInt(task.version) !== BigInt(update.version) + 1n) return false;
  return update.state === 'failed'
    ? task.error === update.error
    : canonicalJson(task.result) === canonicalJson(update.result);
}

/** Says why a lease could not be renewed. */
async function refuse(
  sql: Sql,
  caller: Principal,
  taskId: string,
  update: Update<'running'>,
): Promise<never> {
  const { task } = await holdForWork(sql, caller, taskId);
  requireLease(caller, task, update);
  // The caller was let into the room again in this moment; what it has sent was refused all the same.
  return fail('lease_lost');
}

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || attempt === 3) throw error;
    }
  }
}
