import { type Sql, statement } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';
import { TASK_COLUMNS, type TaskRow } from '../task-record.js';

/** At most this many of each kind in one transaction. */
const SWEEP = 50;

/**
 * Ends what nobody can claim any more. SKIP LOCKED: what another process ends, or somebody works on at this moment, is
 * not due here, and several processes share the work. tasks_unclaimed_idx gives the first kind; the second is read
 * from tasks_held_idx, which holds only what is in work.
 */
const failDue = statement<TaskRow>(
  'tasks_fail_due',
  `WITH unclaimed AS MATERIALIZED (
     SELECT id, 'Its deadline passed before it was claimed.' AS error FROM tasks
     WHERE state = 'queued' AND deadline <= now()
     ORDER BY deadline LIMIT ${SWEEP} FOR NO KEY UPDATE SKIP LOCKED
   ),
   abandoned AS MATERIALIZED (
     SELECT id, CASE WHEN deadline <= now()
       THEN 'Its lease ended after the deadline, so it cannot be claimed again.'
       ELSE 'Its last lease ended without a result; it was claimed ${LIMITS.taskClaims} times.' END AS error
     FROM tasks
     WHERE state IN ('running', 'waiting_approval') AND lease_until <= now()
       AND (deadline <= now() OR (state = 'running' AND attempts >= ${LIMITS.taskClaims}))
     LIMIT ${SWEEP} FOR NO KEY UPDATE SKIP LOCKED
   )
   UPDATE tasks t SET state = 'failed', error = due.error, version = t.version + 1, lease_owner = NULL,
     lease_until = NULL, updated_at = clock_timestamp(), finished_at = clock_timestamp()
   FROM (SELECT * FROM unclaimed UNION ALL SELECT * FROM abandoned) AS due
   WHERE t.id = due.id
   RETURNING ${TASK_COLUMNS}`,
);

/** Fails a bounded part of what is due. */
export async function failDueTasks(sql: Sql): Promise<{ failed: TaskRow[]; more: boolean }> {
  const failed = await sql.query(failDue, []);
  return { failed, more: failed.length >= SWEEP };
}
