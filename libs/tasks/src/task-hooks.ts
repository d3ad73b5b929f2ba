import { Injectable } from '@nestjs/common';
import type { Sql, Transaction } from '@relayger/kernel';
import type { TaskRecord } from './task-record.js';

/** What tasks know of approvals. */
export interface TaskApprovals {
  /** Asked while the task is held, so no request comes in between. */
  state(sql: Sql, taskId: string): Promise<{ pending: boolean; rejected: boolean }>;
}

/** Called in the transaction in which a task is completed, fails or is cancelled. */
export type FinishHook = (sql: Transaction, task: TaskRecord) => Promise<void>;

/** What features that build on tasks have to say about them. */
@Injectable()
export class TaskHooks {
  private readonly finishHooks: FinishHook[] = [];
  private approvals: TaskApprovals | null = null;

  useApprovals(approvals: TaskApprovals): void {
    this.approvals = approvals;
  }

  onFinish(hook: FinishHook): void {
    this.finishHooks.push(hook);
  }

  async approvalState(sql: Sql, taskId: string): Promise<{ pending: boolean; rejected: boolean }> {
    return (await this.approvals?.state(sql, taskId)) ?? { pending: false, rejected: false };
  }

  async finished(sql: Transaction, task: TaskRecord): Promise<void> {
    for (const hook of this.finishHooks) await hook(sql, task);
  }
}
