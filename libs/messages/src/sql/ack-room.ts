import { type Sql, statement } from '@relayger/kernel';

export interface AckRow {
  last_seq: string;
  /** The cursor afterwards; null when the sequence is above the room's newest. */
  delivered_seq: string | null;
}

// As consume=1 does, an acknowledgement passes the caller's own messages and live events behind it. The
// messages are looked at in the same snapshot as last_seq, so nothing that arrives meanwhile can be passed.
const ackRoom = statement<AckRow>(
  'messages_ack_room',
  `WITH room AS MATERIALIZED (
     SELECT r.last_seq, m.delivered_seq FROM memberships m JOIN rooms r ON r.id = m.room_id
     WHERE m.room_id = $1 AND m.identity_id = $2 AND r.gate <> 'blocked'
   ),
   target AS (
     SELECT coalesce(
       (SELECT min(seq) - 1 FROM messages
        WHERE room_id = $1 AND seq > greatest($3::bigint, room.delivered_seq) AND sender_id <> $2
          AND type NOT IN ('status', 'progress')),
       room.last_seq) AS to_seq
     FROM room WHERE $3::bigint BETWEEN room.delivered_seq + 1 AND room.last_seq
   ),
   moved AS (
     UPDATE memberships m SET delivered_seq = t.to_seq FROM target t
     WHERE m.room_id = $1 AND m.identity_id = $2 AND m.delivered_seq < t.to_seq
     RETURNING m.delivered_seq
   )
   SELECT room.last_seq,
          CASE WHEN $3::bigint <= room.last_seq
               THEN coalesce((SELECT delivered_seq FROM moved), room.delivered_seq) END AS delivered_seq
   FROM room`,
);

/** Raises the caller's cursor of a room; null when the room is not accessible. */
export async function updateDelivered(
  sql: Sql,
  roomId: string,
  identityId: string,
  sequence: string,
): Promise<AckRow | null> {
  const [row] = await sql.query(ackRoom, [roomId, identityId, sequence]);
  return row ?? null;
}
