import { type Sql, statement } from '@relayger/kernel';

/** approvals_pending_room_id_idx: a room has few that are pending. */
const list = statement<{ file_id: string }>(
  'approvals_list_reviewed_files',
  `SELECT DISTINCT action ->> 'fileId' AS file_id FROM approvals
   WHERE room_id = $1 AND state = 'pending' AND expires_at > clock_timestamp()
     AND action ->> 'fileId' = ANY ($2::text[])`,
);

/** Those of the files that somebody is asked to let be published. */
export async function selectReviewedFiles(
  sql: Sql,
  roomId: string,
  fileIds: readonly string[],
): Promise<string[]> {
  return (await sql.query(list, [roomId, fileIds])).map(({ file_id }) => file_id);
}
