import { type Sql, statement } from '@relayger/kernel';

// The quota is decided by the update of the room's row, so uploads that come at once cannot exceed it together. The
// lock lasts for one short transaction, never while bytes come in.
const reserve = statement<{ id: string }>(
  'files_reserve',
  `WITH reserved AS (
     UPDATE rooms SET stored_bytes = stored_bytes + $5::int
     WHERE id = $2 AND stored_bytes + $5::int <= $7::bigint RETURNING id)
   INSERT INTO files (id, room_id, uploader_id, name, size, object_key)
   SELECT $1, id, $3, $4, $5::int, $6 FROM reserved RETURNING id`,
);

const getFree = statement<{ free: string }>(
  'files_get_free',
  'SELECT greatest($2::bigint - stored_bytes, 0) AS free FROM rooms WHERE id = $1',
);

export interface Upload {
  id: string;
  roomId: string;
  uploaderId: string;
  name: string;
  size: number;
  objectKey: string;
}

/** Takes the bytes out of the room's quota and notes the upload; answers how many bytes are free when they do not fit. */
export async function reserveUpload(
  sql: Sql,
  { id, roomId, uploaderId, name, size, objectKey }: Upload,
  quota: number,
): Promise<{ freeBytes: number } | null> {
  const values = [id, roomId, uploaderId, name, size, objectKey, quota];
  const [reserved] = await sql.query(reserve, values);
  if (reserved) return null;
  const [room] = await sql.query(getFree, [roomId, quota]);
  return { freeBytes: Number(room?.free ?? 0) };
}
