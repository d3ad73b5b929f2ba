import { type Sql, statement } from '@relayger/kernel';

/** A file that is no more, whose object is still to be deleted. */
export interface RemovedFile {
  id: string;
  object_key: string;
}

const listRemoved = statement<RemovedFile>(
  'files_list_removed',
  `SELECT id, object_key FROM files WHERE state = 'removed' ORDER BY created_at LIMIT $1`,
);

const deleteRemoved = statement(
  'files_delete_removed',
  `DELETE FROM files WHERE id = $1 AND state = 'removed'`,
);

/** The oldest files that are removed. Several processes may get the same ones: deleting an object twice does no harm. */
export function selectRemoved(sql: Sql, limit: number): Promise<RemovedFile[]> {
  return sql.query(listRemoved, [limit]);
}

/** Forgets a removed file. Its object must be gone. */
export async function deleteRemovedFile(sql: Sql, id: string): Promise<void> {
  await sql.query(deleteRemoved, [id]);
}
