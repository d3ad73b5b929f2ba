import { type Sql, statement } from '@relayger/kernel';

// Messages that belong to the task follow each other: the count of its root stays exact.
const lockRoot = statement(
  'tasks_lock_root',
  'SELECT FROM tasks WHERE id = $2 AND room_id = $1 AND parent_id IS NULL FOR NO KEY UPDATE',
);

/** Holds a root task of a room; false when there is none of this id. */
export async function lockRootTask(sql: Sql, roomId: string, taskId: string): Promise<boolean> {
  return (await sql.query(lockRoot, [roomId, taskId])).length > 0;
}
