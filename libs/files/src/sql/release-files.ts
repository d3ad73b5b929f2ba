import { type Sql, statement } from '@relayger/kernel';

const unlinkFiles = statement<{ file_id: string }>(
  'files_unlink',
  'DELETE FROM message_files WHERE message_id = $1 RETURNING file_id',
);

// Takes the room row, which every append holds from its check of attachments to its commit. An append that committed
// before is seen by the statements that follow; one that comes after finds another access_version than it read,
// starts again and sees the files gone.
const lockRoom = statement(
  'files_lock_room',
  'UPDATE rooms SET access_version = access_version + 1 WHERE id = $1',
);

const listUnused = statement<{ id: string }>(
  'files_list_unused',
  `SELECT f.id FROM files f
   WHERE f.id = ANY ($1) AND f.room_id = $2 AND f.uploader_id = $3 AND f.state = 'ready'
     AND NOT EXISTS (SELECT FROM message_files u WHERE u.file_id = f.id)`,
);

const removeReady = statement(
  'files_remove_ready',
  `WITH gone AS (
     UPDATE files SET state = 'removed' WHERE id = ANY ($1) AND state = 'ready' RETURNING room_id, size)
   UPDATE rooms r SET stored_bytes = r.stored_bytes - g.bytes
   FROM (SELECT room_id, sum(size) AS bytes FROM gone GROUP BY room_id) g WHERE r.id = g.room_id`,
);

/** The files that a message used; it uses none any longer. */
export async function unlinkMessageFiles(sql: Sql, messageId: string): Promise<string[]> {
  return (await sql.query(unlinkFiles, [messageId])).map(({ file_id }) => file_id);
}

/** Locks the room until the end of the transaction and makes appends that are under way look at its files again. */
export async function lockRoomFiles(sql: Sql, roomId: string): Promise<void> {
  await sql.query(lockRoom, [roomId]);
}

/** Those of the files that are the uploader's and that no message uses. The room must be locked. */
export async function selectUnusedFiles(
  sql: Sql,
  { fileIds, roomId, uploaderId }: { fileIds: string[]; roomId: string; uploaderId: string },
): Promise<string[]> {
  const rows = await sql.query(listUnused, [fileIds, roomId, uploaderId]);
  return rows.map(({ id }) => id);
}

/** Ends files of one room and gives their bytes back to it. The room must be locked. */
export async function removeFiles(sql: Sql, fileIds: readonly string[]): Promise<void> {
  await sql.query(removeReady, [fileIds]);
}
