import { type Sql, statement } from '@relayger/kernel';

export interface RoomRow {
  id: string;
  kind: 'group' | 'dm';
  name: string | null;
  owner_id: string | null;
  created_at: Date;
  last_seq: string;
  delivered_seq: string;
  seen_seq: string;
  unread: number;
  members: number;
  peer_id: string | null;
  peer_number: string | null;
  peer_handle: string | null;
}

/** Unread messages are counted up to this many. */
const COUNTED = 1000;

// delivered_seq is the stored cursor or, when only own, status and progress events lie behind it, the point just
// before the first message that really is pending: so it equals last_seq when nothing from others waits.
// A blocked direct conversation is not accessible, so it is not listed.
const SELECT = `SELECT r.id, r.kind, r.name, r.owner_id, r.created_at, r.last_seq, m.seen_seq,
          greatest(m.delivered_seq, coalesce(pending.first_seq - 1, r.last_seq)) AS delivered_seq,
          coalesce(pending.count, 0)::int AS unread,
          (SELECT count(*)::int FROM memberships others WHERE others.room_id = r.id) AS members,
          peer.id AS peer_id, peer.number AS peer_number, peer.handle AS peer_handle
   FROM memberships m
   JOIN rooms r ON r.id = m.room_id
   LEFT JOIN LATERAL (
     SELECT min(seq) AS first_seq, count(*) AS count FROM (
       SELECT seq FROM messages
       WHERE room_id = r.id AND seq > m.delivered_seq AND sender_id <> m.identity_id
         AND type NOT IN ('status', 'progress')
       ORDER BY seq LIMIT ${COUNTED}
     ) AS first_ones
   ) AS pending ON r.last_seq > m.delivered_seq
   LEFT JOIN identities peer
     ON r.kind = 'dm' AND peer.id = CASE r.dm_low WHEN m.identity_id THEN r.dm_high ELSE r.dm_low END
   WHERE m.identity_id = $1 AND r.gate <> 'blocked'`;

const listRooms = statement<RoomRow>(
  'rooms_list',
  `${SELECT} AND ($2::uuid[] IS NULL OR r.id = ANY ($2)) ORDER BY r.created_at DESC, r.id DESC`,
);

const getRoom = statement<RoomRow>('rooms_get', `${SELECT} AND m.room_id = $2`);

/**
 * The rooms of an identity, newest first.
 * @param roomIds only these, when the token is limited to them
 */
export function selectRooms(
  sql: Sql,
  identityId: string,
  roomIds: readonly string[] | null,
): Promise<RoomRow[]> {
  return sql.query(listRooms, [identityId, roomIds]);
}

/** One room of an identity, or null when it is not a member or a block hides the room. */
export async function selectRoom(
  sql: Sql,
  identityId: string,
  roomId: string,
): Promise<RoomRow | null> {
  return (await sql.query(getRoom, [identityId, roomId]))[0] ?? null;
}
