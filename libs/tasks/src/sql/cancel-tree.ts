import { type Sql, statement } from '@relayger/kernel';
import { TASK_COLUMNS, type TaskRow } from '../task-record.js';

// The root is held, so the tree does not grow meanwhile; its tasks (at most 32, by tasks_root_id_idx) are then taken
// in the order of every other statement. The lease goes too: nobody finished these.
const cancel = statement<TaskRow>(
  'tasks_cancel_tree',
  `WITH RECURSIVE tree AS (
     SELECT id FROM tasks WHERE id = $1
     UNION ALL SELECT c.id FROM tasks c JOIN tree p ON c.parent_id = p.id WHERE c.root_id = $2
   ),
   open AS MATERIALIZED (
     SELECT t.id FROM tasks t
     WHERE t.id IN (SELECT id FROM tree) AND t.state IN ('queued', 'running', 'waiting_approval')
     ORDER BY t.depth, t.id
     FOR NO KEY UPDATE OF t
   )
   UPDATE tasks t SET state = 'cancelled', version = t.version + 1, lease_owner = NULL, lease_until = NULL,
     updated_at = clock_timestamp(), finished_at = clock_timestamp()
   FROM open WHERE t.id = open.id
   RETURNING ${TASK_COLUMNS}`,
);

/** Cancels a task and every open one below it; answers those that it cancelled. */
export function cancelTree(sql: Sql, taskId: string, rootId: string): Promise<TaskRow[]> {
  return sql.query(cancel, [taskId, rootId]);
}
