import { type Sql, statement } from '@relayger/kernel';
import type { RuntimePolicy } from '@relayger/protocol';
import { IS_WORK } from './is-work.js';

// Both under the runtime's lock: no claim comes between.
const hasLease = statement<{ busy: boolean }>(
  'runtimes_has_lease',
  `SELECT EXISTS (SELECT FROM runtime_deliveries
     WHERE runtime_id = $1 AND state = 'leased' AND due_at > clock_timestamp()) AS busy`,
);

// Before the policy changes: what was dead under the old one stays dead, and nobody who held a job holds it on.
const fenceLeases = statement(
  'runtimes_fence_leases',
  `UPDATE runtime_deliveries d
   SET state = CASE WHEN d.attempts >= rt.max_attempts THEN 'dead_letter' ELSE 'pending' END, owner = NULL,
       version = d.version + 1, updated_at = clock_timestamp()
   FROM runtimes rt
   WHERE rt.id = $1 AND d.runtime_id = $1 AND d.state = 'leased'`,
);

const updatePolicy = statement(
  'runtimes_update_policy',
  `UPDATE runtimes SET triggers = $2, allowed_senders = $3, allowed_rooms = $4, max_attempts = $5,
     max_calls_per_hour = $6, concurrency = $7, active_hours = $8, version = version + 1
   WHERE id = $1`,
);

const reviewPending = statement(
  'runtimes_review_pending',
  `UPDATE runtime_deliveries d
   SET state = CASE WHEN review.is_work THEN 'dead_letter' ELSE 'skipped' END, updated_at = clock_timestamp()
   FROM (
     SELECT d.id, d.attempts >= rt.max_attempts AS is_dead, ${IS_WORK} AS is_work
     FROM runtimes rt
     JOIN runtime_deliveries d ON d.runtime_id = rt.id
     JOIN rooms room ON room.id = d.room_id
     JOIN messages m ON m.room_id = d.room_id AND m.seq = d.seq
     WHERE rt.id = $1 AND d.state = 'pending'
   ) AS review
   WHERE d.id = review.id AND (review.is_dead OR NOT review.is_work)`,
);

/** Whether a job of the runtime is leased now. */
export async function isBusy(sql: Sql, runtimeId: string): Promise<boolean> {
  return (await sql.query(hasLease, [runtimeId]))[0]?.busy ?? false;
}

/**
 * Gives a runtime a new policy: leases that have ended are fenced, and jobs that wait are looked at again. Call it
 * under `lockRuntime`, when it is not busy.
 */
export async function replacePolicy(
  sql: Sql,
  runtimeId: string,
  policy: RuntimePolicy,
): Promise<void> {
  await sql.query(fenceLeases, [runtimeId]);
  await sql.query(updatePolicy, [
    runtimeId,
    policy.triggers,
    policy.allowedSenders,
    policy.allowedRooms,
    policy.maxAttempts,
    policy.maxCallsPerHour,
    policy.concurrency,
    policy.activeHoursUTC,
  ]);
  await sql.query(reviewPending, [runtimeId]);
}
