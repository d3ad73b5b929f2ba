import { type Sql, statement } from '@relayger/kernel';
import type { FileRow } from './select-file.js';

// Not one that was given up meanwhile: its bytes are no longer counted, and its object may be gone.
const finish = statement<FileRow>(
  'files_finish',
  `UPDATE files SET state = 'ready', sha256 = $2 WHERE id = $1 AND state = 'uploading'
   RETURNING id, room_id, name, size, sha256, object_key, created_at`,
);

const giveUp = (which: string) => `WITH gone AS (
     UPDATE files SET state = 'removed' WHERE id = (${which}) AND state = 'uploading' RETURNING id, room_id, size)
   UPDATE rooms r SET stored_bytes = r.stored_bytes - g.size FROM gone g WHERE r.id = g.room_id
   RETURNING g.id`;

const abandon = statement<{ id: string }>('files_abandon', giveUp('$1::uuid'));

// One at a time, so that each statement locks one room only; what another process has taken is skipped. No upload may
// take longer than ten minutes, so after an hour the process that had it is gone.
const expire = statement<{ id: string }>(
  'files_expire',
  giveUp(`SELECT id FROM files WHERE state = 'uploading' AND created_at < now() - interval '1 hour'
          ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED`),
);

/** Makes a file of an upload, or answers null when it was given up. */
export async function finishUpload(sql: Sql, id: string, sha256: Buffer): Promise<FileRow | null> {
  return (await sql.query(finish, [id, sha256]))[0] ?? null;
}

/** Gives an upload up, and its bytes back to the room; false when it is settled already. */
export async function abandonUpload(sql: Sql, id: string): Promise<boolean> {
  return (await sql.query(abandon, [id])).length > 0;
}

/** The same for the oldest one that broke off without anybody noticing; false when there is none. */
export async function expireUpload(sql: Sql): Promise<boolean> {
  return (await sql.query(expire, [])).length > 0;
}
