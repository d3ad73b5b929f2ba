import { type Sql, statement } from '@relayger/kernel';

export interface AckRow {
  last_seq: string;
  /** The cursors afterwards; null when the sequence is above the room's newest. */
  delivered_seq: string | null;
  seen_seq: string | null;
}

// As consume=1 does, an acknowledgement passes the caller's own messages and live events behind it; what was seen
// passes own messages only (contract/http.md section 6). The messages are looked at in the same snapshot as
// last_seq, so nothing that arrives meanwhile can be passed.
const ackRoom = statement<AckRow>(
  'messages_ack_room',
  `WITH room AS MATERIALIZED (
     SELECT r.last_seq, m.delivered_seq, m.seen_seq FROM memberships m JOIN rooms r ON r.id = m.room_id
     WHERE m.room_id = $1 AND m.identity_id = $2 AND r.gate <> 'blocked'
   ),
   target AS MATERIALIZED (
     SELECT
       CASE WHEN $3::bigint <= delivered_seq THEN 0 ELSE coalesce(
         (SELECT min(seq) - 1 FROM messages
          WHERE room_id = $1 AND seq > $3::bigint AND sender_id <> $2 AND type NOT IN ('status', 'progress')),
         last_seq) END AS to_seq,
       CASE WHEN NOT $4::boolean OR $3::bigint <= seen_seq THEN 0 ELSE coalesce(
         (SELECT min(seq) - 1 FROM messages WHERE room_id = $1 AND seq > $3::bigint AND sender_id <> $2),
         last_seq) END AS seen_to
     FROM room WHERE $3::bigint <= last_seq
   ),
   moved AS (
     UPDATE memberships m
     SET delivered_seq = greatest(m.delivered_seq, t.to_seq), seen_seq = greatest(m.seen_seq, t.seen_to)
     FROM target t
     WHERE m.room_id = $1 AND m.identity_id = $2 AND (m.delivered_seq < t.to_seq OR m.seen_seq < t.seen_to)
     RETURNING m.delivered_seq, m.seen_seq
   )
   SELECT room.last_seq,
     CASE WHEN $3::bigint <= room.last_seq THEN coalesce(moved.delivered_seq, room.delivered_seq) END AS delivered_seq,
     CASE WHEN $3::bigint <= room.last_seq THEN coalesce(moved.seen_seq, room.seen_seq) END AS seen_seq
   FROM room LEFT JOIN moved ON true`,
);

/** Raises the caller's cursors of a room; null when the room is not accessible. */
export async function updateCursors(
  sql: Sql,
  roomId: string,
  identityId: string,
  sequence: string,
  seen: boolean,
): Promise<AckRow | null> {
  const [row] = await sql.query(ackRoom, [roomId, identityId, sequence, seen]);
  return row ?? null;
}
