import { type Sql, statement } from '@relayger/kernel';

// A blocked direct conversation is not accessible, so it makes nobody known. The planner goes from the caller's
// few memberships through memberships_pkey to the others of those rooms.
const listCompanions = statement<{ identity_id: string }>(
  'rooms_list_companions',
  `SELECT DISTINCT others.identity_id
   FROM memberships m
   JOIN rooms r ON r.id = m.room_id AND r.gate <> 'blocked'
   JOIN memberships others ON others.room_id = r.id
   WHERE m.identity_id = $1 AND ($2::uuid[] IS NULL OR r.id = ANY ($2))`,
);

/**
 * Everybody who shares a room with an identity, by id, the identity itself among them.
 * @param roomIds only these rooms, when the token is limited to them
 */
export async function selectCompanions(
  sql: Sql,
  identityId: string,
  roomIds: readonly string[] | null,
): Promise<string[]> {
  const rows = await sql.query(listCompanions, [identityId, roomIds]);
  return rows.map(({ identity_id }) => identity_id);
}
