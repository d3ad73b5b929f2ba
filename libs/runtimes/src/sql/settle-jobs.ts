import { type Sql, statement } from '@relayger/kernel';
import { IS_RETRACTED } from './is-work.js';

// Few rows of runtime_deliveries_open_idx. Rows that somebody finishes at this moment are left alone.
const settleJobs = statement<{ id: string }>(
  'runtimes_settle_jobs',
  `WITH overdue AS MATERIALIZED (
     SELECT d.id, d.attempts >= rt.max_attempts AS dead
     FROM runtimes rt
     JOIN runtime_deliveries d ON d.runtime_id = rt.id
     JOIN messages m ON m.room_id = d.room_id AND m.seq = d.seq
     WHERE rt.id = $1 AND d.state IN ('pending', 'leased') AND d.due_at <= statement_timestamp()
       AND (d.attempts >= rt.max_attempts OR d.expires_at <= statement_timestamp() OR ${IS_RETRACTED})
     ORDER BY d.position LIMIT 1000
     FOR NO KEY UPDATE OF d SKIP LOCKED
   )
   UPDATE runtime_deliveries d
   SET state = CASE WHEN o.dead THEN 'dead_letter' ELSE 'skipped' END, owner = NULL, version = d.version + 1,
       updated_at = clock_timestamp()
   FROM overdue o WHERE d.id = o.id
   RETURNING d.id`,
);

// A scan of the small index of leases. What is left over after the last attempt is dead; the rest waits again.
const endLeases = statement<{ id: string }>(
  'runtimes_end_leases',
  `WITH ended AS MATERIALIZED (
     SELECT d.id, d.attempts >= rt.max_attempts AS dead
     FROM runtime_deliveries d JOIN runtimes rt ON rt.id = d.runtime_id
     WHERE d.state = 'leased' AND d.due_at <= statement_timestamp()
     ORDER BY d.id LIMIT 1000
     FOR NO KEY UPDATE OF d SKIP LOCKED
   )
   UPDATE runtime_deliveries d
   SET state = CASE WHEN e.dead THEN 'dead_letter' ELSE 'pending' END, owner = NULL, version = d.version + 1,
       updated_at = clock_timestamp()
   FROM ended e WHERE d.id = e.id
   RETURNING d.id`,
);

/** Closes the jobs of a runtime that can never be taken again: dead letters, passed deadlines, retracted messages. */
export async function settleOverdue(sql: Sql, runtimeId: string): Promise<void> {
  await sql.query(settleJobs, [runtimeId]);
}

/** Takes leases back that have ended, of any runtime; answers how many. */
export async function endPassedLeases(sql: Sql): Promise<number> {
  return (await sql.query(endLeases, [])).length;
}
