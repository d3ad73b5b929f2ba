import { type Sql, statement } from '@relayger/kernel';

// Locks the requester, so that parallel requests to different identities are counted one after the other and
// the limit holds exactly. NO KEY UPDATE does not stand in the way of foreign keys that point to the row.
const lockRequester = statement(
  'contacts_lock_requester',
  'SELECT FROM identities WHERE id = $1 FOR NO KEY UPDATE',
);

const selectCount = statement<{ count: number }>(
  'contacts_count_outgoing',
  `SELECT count(*)::int AS count FROM contacts WHERE identity_id = $1 AND state = 'outgoing'`,
);

/** How many requests of this identity await an answer. */
export async function countOutgoing(sql: Sql, identityId: string): Promise<number> {
  const [row] = await sql.query(selectCount, [identityId]);
  return row?.count ?? 0;
}

/** As `countOutgoing`, and holds back its other requests until the transaction ends. */
export async function lockAndCountOutgoing(sql: Sql, identityId: string): Promise<number> {
  await sql.query(lockRequester, [identityId]);
  return countOutgoing(sql, identityId);
}
