import { type Sql, statement } from '@relayger/kernel';
import { type ApprovalRow, COLUMNS } from '../approval.js';

const decide = statement<ApprovalRow>(
  'approvals_decide',
  `UPDATE approvals SET state = $2, decided_at = clock_timestamp()
   WHERE id = $1 AND state = 'pending' AND expires_at > clock_timestamp()
   RETURNING ${COLUMNS}`,
);

/** Decides a pending approval of a task that is held; null when it has just expired. */
export async function decidePending(
  sql: Sql,
  id: string,
  state: 'approved' | 'rejected',
): Promise<ApprovalRow | null> {
  const [row] = await sql.query(decide, [id, state]);
  return row ?? null;
}
