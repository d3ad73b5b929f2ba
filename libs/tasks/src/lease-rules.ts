import type { Principal, Sql } from '@relayger/kernel';
import { fail } from '@relayger/protocol';
import { type HeldTask, type LockedTask, lockTaskAndRoot } from './sql/lock-task.js';
import { isFinished } from './task-record.js';

/** What a worker shows of its lease. */
export interface Lease {
  /** A decimal string. */
  version: string;
  leaseOwner: string;
}

/**
 * Holds a task and its root for somebody who is to work on it: a member of its room, while one may send there.
 * @throws RelaygerError `not_found`, `contact_required`
 */
export async function holdForWork(sql: Sql, caller: Principal, taskId: string): Promise<HeldTask> {
  const held = await lockTaskAndRoot(sql, taskId, caller);
  if (!held?.task.gate || held.task.gate === 'blocked') fail('not_found');
  if (held.task.gate === 'closed') fail('contact_required');
  return held;
}

/**
 * The fence: only the assignee, only under the lease that it was given last, only while that has not ended. Whoever
 * comes later is told and changes nothing.
 * @throws RelaygerError `task_assignee_required`, `task_finished`, `lease_lost`, `version_conflict`
 */
export function requireLease(caller: Principal, task: LockedTask, lease: Lease): void {
  if (task.assignee_id !== caller.identityId) fail('task_assignee_required');
  if (isFinished(task)) fail('task_finished');
  if (!task.leased || task.lease_owner !== lease.leaseOwner) fail('lease_lost');
  if (task.version !== lease.version) fail('version_conflict');
}
