import { type Sql, statement } from '@relayger/kernel';

// One row, by key. Whoever counts holds it already, or takes it before the room.
const count = statement(
  'tasks_count_message',
  `UPDATE tasks SET tree_messages = tree_messages + 1 WHERE id = $1 AND ($2::int IS NULL OR tree_messages < $2)
   RETURNING id`,
);

/**
 * Counts one message of a root task.
 * @param limit not above this many
 * @returns false when there are so many already
 */
export async function addTreeMessage(sql: Sql, rootId: string, limit?: number): Promise<boolean> {
  return (await sql.query(count, [rootId, limit ?? null])).length > 0;
}
