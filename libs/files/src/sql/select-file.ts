import { type Sql, statement } from '@relayger/kernel';

/** A file that is there in full. */
export interface FileRow {
  id: string;
  room_id: string;
  name: string;
  size: number;
  sha256: Buffer;
  object_key: string;
  created_at: Date;
}

const getReady = statement<FileRow>(
  'files_get_ready',
  `SELECT id, room_id, name, size, sha256, object_key, created_at FROM files
   WHERE id = $1 AND state = 'ready'`,
);

/** A file that is ready, or null: one that is still coming in or was removed is as unknown as any other id. */
export async function selectReadyFile(sql: Sql, fileId: string): Promise<FileRow | null> {
  return (await sql.query(getReady, [fileId]))[0] ?? null;
}
