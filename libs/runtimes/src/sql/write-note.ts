import { type Sql, statement } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';

export interface NoteRow {
  room_id: string;
  key: string;
  text: string;
  version: number;
  source_ids: string[];
  created_at: Date;
  updated_at: Date;
}

export interface NoteDraft {
  key: string;
  text: string;
  /** 0 creates. */
  version: number;
  sourceMessageIds: readonly string[];
}

const COLUMNS = 'room_id, key, text, version, source_ids, created_at, updated_at';

const countSources = statement<{ count: number }>(
  'runtimes_count_sources',
  'SELECT count(*)::int AS count FROM messages WHERE room_id = $1 AND id = ANY ($2)',
);

const hasNote = statement<{ present: boolean; full: boolean }>(
  'runtimes_has_note',
  `SELECT EXISTS (SELECT FROM runtime_notes WHERE runtime_id = $1 AND room_id = $2 AND key = $3) AS present,
          (SELECT count(*) FROM runtime_notes WHERE runtime_id = $1) >= ${LIMITS.runtimeNotes} AS full`,
);

const insertNote = statement<NoteRow>(
  'runtimes_insert_note',
  `INSERT INTO runtime_notes (runtime_id, room_id, key, text, source_ids) VALUES ($1, $2, $3, $4, $5)
   RETURNING ${COLUMNS}`,
);

const updateNote = statement<NoteRow>(
  'runtimes_update_note',
  `UPDATE runtime_notes SET text = $4, source_ids = $5, version = version + 1, updated_at = clock_timestamp()
   WHERE runtime_id = $1 AND room_id = $2 AND key = $3 AND version = $6
   RETURNING ${COLUMNS}`,
);

const listNotes = statement<NoteRow>(
  'runtimes_list_notes',
  `SELECT ${COLUMNS} FROM runtime_notes n
   WHERE runtime_id = $1 AND room_id = $2 AND ($4::text IS NULL OR (updated_at, key) < (
     SELECT updated_at, key FROM runtime_notes WHERE runtime_id = $1 AND room_id = $2 AND key = $4))
   ORDER BY updated_at DESC, key DESC LIMIT $3`,
);

/**
 * Creates or changes a note. Call it under `lockRuntime`: notes are counted, and parallel writers would both create.
 * @returns what is wrong instead, if anything
 */
export async function putNote(
  sql: Sql,
  runtimeId: string,
  roomId: string,
  { key, text, version, sourceMessageIds }: NoteDraft,
): Promise<NoteRow | 'bad_sources' | 'stale' | 'full'> {
  const [found] = await sql.query(countSources, [roomId, sourceMessageIds]);
  if (found?.count !== sourceMessageIds.length) return 'bad_sources';
  const values = [runtimeId, roomId, key, text, sourceMessageIds];
  if (version > 0) {
    const [changed] = await sql.query(updateNote, [...values, version]);
    return changed ?? 'stale';
  }
  const [notes] = await sql.query(hasNote, [runtimeId, roomId, key]);
  if (notes?.present) return 'stale';
  if (notes?.full) return 'full';
  const [created] = await sql.query(insertNote, values);
  if (!created) throw new Error('an insert returns its row');
  return created;
}

/** The notes of a room, the one changed last first, behind the note `after`. */
export function selectNotes(
  sql: Sql,
  runtimeId: string,
  roomId: string,
  limit: number,
  after: string | null,
): Promise<NoteRow[]> {
  return sql.query(listNotes, [runtimeId, roomId, limit, after]);
}
