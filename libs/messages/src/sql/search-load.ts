import { type Sql, statement } from '@relayger/kernel';
import { MESSAGE_COLUMNS, type MessageRow } from './list-messages.js';
import type { Hit } from './search-terms.js';

// The membership is looked at once more, in the snapshot that the messages come from: who has left the room meanwhile
// gets nothing of it. LATERAL with LIMIT: look-ups by primary key in every plan.
const loadHits = statement<MessageRow>(
  'messages_search_load',
  `SELECT ${MESSAGE_COLUMNS}
   FROM unnest($2::uuid[], $3::bigint[]) WITH ORDINALITY AS hit (room_id, seq, ord)
   CROSS JOIN LATERAL (SELECT room_id FROM memberships WHERE room_id = hit.room_id AND identity_id = $1 LIMIT 1) AS member
   CROSS JOIN LATERAL (SELECT id FROM rooms WHERE id = member.room_id AND gate <> 'blocked' LIMIT 1) AS r
   CROSS JOIN LATERAL (SELECT * FROM messages WHERE room_id = r.id AND seq = hit.seq LIMIT 1) AS m
   CROSS JOIN LATERAL (SELECT * FROM identities WHERE id = m.sender_id LIMIT 1) AS i
   ORDER BY hit.ord`,
);

/** Messages that were found, in the order of the hits. */
export function loadHitMessages(
  sql: Sql,
  identityId: string,
  hits: readonly Hit[],
): Promise<MessageRow[]> {
  const rooms = hits.map(({ room }) => room);
  return sql.query(loadHits, [identityId, rooms, hits.map(({ seq }) => seq)]);
}
