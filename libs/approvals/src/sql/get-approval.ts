import { type Sql, statement } from '@relayger/kernel';
import { type ApprovalRow, COLUMNS } from '../approval.js';

const get = statement<ApprovalRow>(
  'approvals_get',
  `SELECT ${COLUMNS} FROM approvals WHERE id = $1`,
);

/** At most one row, by approvals_pending_task_id_key. */
const getPending = statement<ApprovalRow>(
  'approvals_get_pending',
  `SELECT ${COLUMNS} FROM approvals WHERE task_id = $1 AND state = 'pending'`,
);

/** An approval, whoever asks. */
export async function selectApproval(sql: Sql, id: string): Promise<ApprovalRow | null> {
  const [row] = await sql.query(get, [id]);
  return row ?? null;
}

/** The approval that a task waits for, which may have expired by now. Hold the task, or another may be requested. */
export async function selectPending(sql: Sql, taskId: string): Promise<ApprovalRow | null> {
  const [row] = await sql.query(getPending, [taskId]);
  return row ?? null;
}
