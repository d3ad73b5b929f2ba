import { type Sql, statement } from '@relayger/kernel';

/** Somebody who listens to a room. */
export interface RoomReader {
  identityId: string;
  roomId: string;
}

// The rule of get-room-access for many at once: sockets ask before everything that they send. Two look-ups by primary
// key each; LATERAL with LIMIT 1, so that they stay look-ups in every plan.
const list = statement<{ ord: number }>(
  'rooms_list_readable',
  `SELECT a.ord::int AS ord
     FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS a(identity_id, room_id, ord)
    CROSS JOIN LATERAL (
      SELECT FROM memberships WHERE room_id = a.room_id AND identity_id = a.identity_id LIMIT 1) m
    CROSS JOIN LATERAL (SELECT gate FROM rooms WHERE id = a.room_id LIMIT 1) r
    WHERE r.gate <> 'blocked'`,
);

/** Whether each of them may read the room, in their order. */
export async function selectReadable(sql: Sql, readers: readonly RoomReader[]): Promise<boolean[]> {
  const rows = await sql.query(list, [
    readers.map(({ identityId }) => identityId),
    readers.map(({ roomId }) => roomId),
  ]);
  const readable = new Set(rows.map(({ ord }) => ord));
  return readers.map((_, i) => readable.has(i + 1));
}
