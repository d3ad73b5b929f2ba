import { type Sql, statement } from '@relayger/kernel';

const listJoined = statement<{ room_id: string }>(
  'rooms_list_joined',
  'SELECT room_id FROM memberships WHERE identity_id = $1 AND room_id = ANY ($2::uuid[])',
);

/** Those of the rooms that an identity is a member of. */
export async function selectJoined(
  sql: Sql,
  identityId: string,
  roomIds: readonly string[],
): Promise<string[]> {
  return (await sql.query(listJoined, [identityId, roomIds])).map(({ room_id }) => room_id);
}
