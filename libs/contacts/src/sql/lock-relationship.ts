import { type Sql, statement } from '@relayger/kernel';
import type { ContactState } from '@relayger/protocol';
import { type Relationship, STRANGERS } from '../relationship.js';

// The lock is on the pair, not on rows, because before the first contact there are none. Both sides compute the
// same key, so two actions on one relationship follow each other and cannot deadlock.
const lockPair = statement(
  'contacts_lock_pair',
  `SELECT pg_advisory_xact_lock(hashtextextended('contact ' || least($1::text, $2::text) || greatest($1::text, $2::text), 0))`,
);

const readPair = statement<{ identity_id: string; state: ContactState; rejected: boolean }>(
  'contacts_read_pair',
  `SELECT identity_id, state, rejected FROM contacts
   WHERE (identity_id, peer_id) IN (($1::uuid, $2::uuid), ($2::uuid, $1::uuid))`,
);

/** Locks and reads the relationship of two identities until the end of the transaction. */
export async function lockRelationship(
  sql: Sql,
  mineId: string,
  theirId: string,
): Promise<Relationship> {
  await sql.query(lockPair, [mineId, theirId]);
  const rows = await sql.query(readPair, [mineId, theirId]);
  return {
    mine: rows.find((row) => row.identity_id === mineId) ?? STRANGERS.mine,
    theirs: rows.find((row) => row.identity_id === theirId) ?? STRANGERS.theirs,
  };
}
