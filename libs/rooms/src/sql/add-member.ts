import { type Sql, statement } from '@relayger/kernel';

// Locks the room row: the member joins at exactly the newest sequence, so that what was said before is history
// and what comes after is mail.
const lockRoom = statement<{ last_seq: string }>(
  'rooms_lock',
  'SELECT last_seq FROM rooms WHERE id = $1 FOR UPDATE',
);

const newcomer = statement<{ present: boolean; blocked: boolean }>(
  'rooms_newcomer',
  `SELECT EXISTS (SELECT FROM memberships WHERE room_id = $1 AND identity_id = $2) AS present, EXISTS (
     SELECT FROM memberships m
     JOIN contacts c ON (c.identity_id = m.identity_id AND c.peer_id = $2)
                     OR (c.identity_id = $2 AND c.peer_id = m.identity_id)
     WHERE m.room_id = $1 AND c.state = 'blocked'
   ) AS blocked`,
);

const insertMember = statement<{ room_id: string }>(
  'rooms_insert_member',
  `INSERT INTO memberships (room_id, identity_id, role, delivered_seq, seen_seq)
   VALUES ($1, $2, 'member', $3, $3)
   ON CONFLICT (room_id, identity_id) DO NOTHING
   RETURNING room_id`,
);

/**
 * Adds a member; `'blocked'` when a block stands between it and somebody in the room. Who is in it stays in it: a
 * later block among members does not touch the room.
 */
export async function insertRoomMember(
  sql: Sql,
  roomId: string,
  identityId: string,
): Promise<'added' | 'present' | 'blocked'> {
  const [room] = await sql.query(lockRoom, [roomId]);
  if (!room) throw new Error('rooms are never deleted');
  const [found] = await sql.query(newcomer, [roomId, identityId]);
  if (found?.present) return 'present';
  if (found?.blocked) return 'blocked';
  const [added] = await sql.query(insertMember, [roomId, identityId, room.last_seq]);
  return added ? 'added' : 'present';
}
