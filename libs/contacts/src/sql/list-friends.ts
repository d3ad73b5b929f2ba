import { type Sql, statement } from '@relayger/kernel';

const listFriends = statement<{ peer_id: string }>(
  'contacts_list_friends',
  `SELECT peer_id FROM contacts WHERE identity_id = $1 AND state = 'friend'`,
);

/** The friends of an identity, by id. */
export async function selectFriends(sql: Sql, identityId: string): Promise<string[]> {
  return (await sql.query(listFriends, [identityId])).map(({ peer_id }) => peer_id);
}
