import { type Sql, statement } from '@relayger/kernel';

/** What the decisions of people mean for a task. */
export interface Gate {
  /** Somebody can still decide. */
  pending: boolean;
  /** The last decision was a rejection. Requests that nobody decided count for nothing. */
  rejected: boolean;
}

/** Two look-ups by index: of the one that is pending, and of the last one of approvals_task_id_decided_at_idx. */
const getGate = statement<Gate>(
  'approvals_get_gate',
  `SELECT EXISTS (SELECT FROM approvals
                  WHERE task_id = $1 AND state = 'pending' AND expires_at > clock_timestamp()) AS pending,
          coalesce((SELECT state = 'rejected' FROM approvals WHERE task_id = $1 AND decided_at IS NOT NULL
                    ORDER BY decided_at DESC LIMIT 1), false) AS rejected`,
);

/** What stands between a task and its completion. Hold the task: requests and decisions do too. */
export async function selectGate(sql: Sql, taskId: string): Promise<Gate> {
  const [gate] = await sql.query(getGate, [taskId]);
  if (!gate) throw new Error('a query without FROM has one row');
  return gate;
}
