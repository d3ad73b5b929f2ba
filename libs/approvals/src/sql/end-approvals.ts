import { type Sql, statement } from '@relayger/kernel';

const SWEEP = 100;

// Expired ones stay expired, also when the sweep has not been there yet.
const end = statement(
  'approvals_end_pending',
  `UPDATE approvals
   SET state = CASE WHEN expires_at <= clock_timestamp() THEN 'expired' ELSE 'closed' END
   WHERE task_id = $1 AND state = 'pending'`,
);

// SKIP LOCKED: what another process expires or a person decides at this moment is no longer due here. In the order of
// approvals_pending_expires_at_idx.
const expire = statement(
  'approvals_expire',
  `UPDATE approvals SET state = 'expired'
   WHERE id IN (SELECT id FROM approvals WHERE state = 'pending' AND expires_at <= now()
                ORDER BY expires_at LIMIT ${SWEEP} FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);

/** Ends the pending approval of a task, if it has one: nobody can decide it any more. */
export async function endPendingApproval(sql: Sql, taskId: string): Promise<void> {
  await sql.query(end, [taskId]);
}

/** Writes down what has expired, a bounded part of it. @returns true when there may be more */
export async function expireApprovals(sql: Sql): Promise<boolean> {
  return (await sql.query(expire, [])).length === SWEEP;
}
