import { type Sql, statement } from '@relayger/kernel';

// Takes the room row, as every append does, and raises access_version: an append of the removed member that waited
// for the row starts again and finds no membership. After the commit nothing of it can be stored any more.
const fence = statement(
  'rooms_fence_for_removal',
  'UPDATE rooms SET access_version = access_version + 1 WHERE id = $1',
);

const deleteMember = statement<{ identity_id: string }>(
  'rooms_delete_member',
  `DELETE FROM memberships WHERE room_id = $1 AND identity_id = $2 AND role <> 'owner' RETURNING identity_id`,
);

/** Ends a membership; false when there is none. */
export async function deleteRoomMember(
  sql: Sql,
  roomId: string,
  identityId: string,
): Promise<boolean> {
  await sql.query(fence, [roomId]);
  return (await sql.query(deleteMember, [roomId, identityId])).length > 0;
}
