import { type Sql, statement } from '@relayger/kernel';
import { TASK_COLUMNS, type TaskRow } from '../task-record.js';

// The task is held and its lease was checked; the clock is looked at once more, since that statement may have read it
// before it waited. lease_owner stays, so that the same completion again can be told from another.
const finish = statement<TaskRow>(
  'tasks_finish',
  `UPDATE tasks t SET state = CASE WHEN $2::json IS NULL THEN 'failed' ELSE 'completed' END, result = $2, error = $3,
     version = version + 1, updated_at = clock_timestamp(), finished_at = clock_timestamp()
   WHERE id = $1 AND lease_until > clock_timestamp()
   RETURNING ${TASK_COLUMNS}`,
);

/** Ends a task that is held, with its result or with an error; null when its lease has just ended. */
export async function finishHeld(
  sql: Sql,
  taskId: string,
  outcome: { result: object } | { error: string },
): Promise<TaskRow | null> {
  const result = 'result' in outcome ? JSON.stringify(outcome.result) : null;
  const [row] = await sql.query(finish, [
    taskId,
    result,
    'error' in outcome ? outcome.error : null,
  ]);
  return row ?? null;
}
