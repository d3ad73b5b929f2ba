import { type Principal, type Sql, statement } from '@relayger/kernel';
import { LIMITS, type TaskProgress } from '@relayger/protocol';
import type { Lease } from '../lease-rules.js';
import { TASK_COLUMNS, type TaskRow } from '../task-record.js';

export interface RenewedTask extends TaskRow {
  /** Whether the room is to hear of the progress now; the next time is counted from here. */
  tell: boolean;
}

/**
 * The hot update: one row, by key, with the fence in its condition, so that a heartbeat is one round trip. Locks the
 * task only. clock_timestamp(), not now(): the lease may end while the row is waited for. That the task is in work is
 * said in words that no partial index has: a plan made while the table is small would else read all that the agent has
 * in work.
 */
const renew = statement<RenewedTask>(
  'tasks_renew_lease',
  `UPDATE tasks t SET state = $5, version = t.version + 1,
     lease_until = clock_timestamp() + interval '${LIMITS.leaseSeconds} s', updated_at = clock_timestamp(),
     progress = coalesce($7::json, t.progress),
     progress_at = CASE WHEN $7::json IS NULL THEN t.progress_at ELSE clock_timestamp() END,
     progress_event_at = CASE
       WHEN $7::json IS NULL
         OR t.progress_event_at > clock_timestamp() - interval '${LIMITS.progressEventSeconds} s'
       THEN t.progress_event_at ELSE clock_timestamp() END
   WHERE t.id = $1 AND t.assignee_id = $2 AND t.lease_owner = $3 AND t.version = $4
     AND t.finished_at IS NULL AND t.lease_until > clock_timestamp()
     AND ($6::uuid[] IS NULL OR t.room_id = ANY ($6))
     AND EXISTS (SELECT FROM memberships m JOIN rooms r ON r.id = m.room_id
                 WHERE m.room_id = t.room_id AND m.identity_id = $2 AND r.gate = 'open')
   RETURNING ${TASK_COLUMNS.replaceAll('t.', 'new.')},
     old.progress_event_at IS DISTINCT FROM new.progress_event_at AS tell`,
);

/** Renews a lease; null when it is not the caller's, has ended, or the caller may not work in the room any more. */
export async function renewLease(
  sql: Sql,
  caller: Principal,
  taskId: string,
  { version, leaseOwner }: Lease,
  state: 'running' | 'waiting_approval',
  progress?: Omit<TaskProgress, 'at'>,
): Promise<RenewedTask | null> {
  const [row] = await sql.query(renew, [
    taskId,
    caller.identityId,
    leaseOwner,
    version,
    state,
    caller.roomIds,
    progress ? JSON.stringify(progress) : null,
  ]);
  return row ?? null;
}
