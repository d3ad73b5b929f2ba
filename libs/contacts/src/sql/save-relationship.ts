import { type Sql, statement } from '@relayger/kernel';
import type { Relationship } from '../relationship.js';

const save = statement(
  'contacts_save',
  `INSERT INTO contacts (identity_id, peer_id, state, rejected, note, requested_at, updated_at)
   VALUES ($1, $2, $3, $4, $7, CASE WHEN $3 IN ('incoming', 'outgoing') THEN now() END, now()),
          ($2, $1, $5, $6, $7, CASE WHEN $5 IN ('incoming', 'outgoing') THEN now() END, now())
   ON CONFLICT (identity_id, peer_id) DO UPDATE SET
     state = excluded.state,
     rejected = excluded.rejected,
     -- A repeated request keeps its place, and its note unless it brings a new one.
     note = CASE WHEN contacts.state = excluded.state THEN coalesce(excluded.note, contacts.note) ELSE excluded.note END,
     requested_at = CASE WHEN contacts.state = excluded.state THEN contacts.requested_at ELSE excluded.requested_at END,
     updated_at = now()`,
);

/** Writes both sides. The note belongs to a pending request; every other state drops it. */
export async function saveRelationship(
  sql: Sql,
  mineId: string,
  theirId: string,
  { mine, theirs }: Relationship,
  note: string | null,
): Promise<void> {
  await sql.query(save, [
    mineId,
    theirId,
    mine.state,
    mine.rejected,
    theirs.state,
    theirs.rejected,
    note,
  ]);
}
