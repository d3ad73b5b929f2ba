import type { FileObject } from '@relayger/protocol';
import type { FileRow } from './sql/select-file.js';

/** A file as clients see it. */
export function toFileObject(row: FileRow): FileObject {
  return {
    id: row.id,
    roomId: row.room_id,
    name: row.name,
    size: row.size,
    sha256: row.sha256.toString('hex'),
    state: 'ready',
    createdAt: row.created_at.toISOString(),
  };
}
