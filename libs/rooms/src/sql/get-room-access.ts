import { type Sql, statement } from '@relayger/kernel';

/** What a member is to a room. */
export interface RoomAccess {
  id: string;
  kind: 'group' | 'dm';
  gate: 'open' | 'closed' | 'blocked';
  owner_id: string | null;
  last_seq: string;
  delivered_seq: string;
}

const getAccess = statement<RoomAccess>(
  'rooms_get_access',
  `SELECT r.id, r.kind, r.gate, r.owner_id, r.last_seq, m.delivered_seq
   FROM memberships m JOIN rooms r ON r.id = m.room_id
   WHERE m.room_id = $1 AND m.identity_id = $2`,
);

/** The room as one of its members may use it, or null for everybody else. */
export async function selectRoomAccess(
  sql: Sql,
  roomId: string,
  identityId: string,
): Promise<RoomAccess | null> {
  const [row] = await sql.query(getAccess, [roomId, identityId]);
  return row ?? null;
}
