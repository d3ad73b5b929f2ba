import { type Sql, statement } from '@relayger/kernel';
import { TASK_COLUMNS, type TaskRow } from '../task-record.js';

export interface KeyedTask extends TaskRow {
  fingerprint: Buffer;
}

const find = statement<KeyedTask>(
  'tasks_find_by_key',
  `SELECT ${TASK_COLUMNS}, t.fingerprint FROM tasks t WHERE t.creator_id = $1 AND t.client_task_id = $2`,
);

/** What this key of a creator has created; null when it has created nothing. */
export async function selectByKey(
  sql: Sql,
  creatorId: string,
  clientTaskId: string,
): Promise<KeyedTask | null> {
  const [row] = await sql.query(find, [creatorId, clientTaskId]);
  return row ?? null;
}
