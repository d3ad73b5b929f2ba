import { type Sql, statement } from '@relayger/kernel';
import { IS_WORK, MESSAGE_DEADLINE } from './is-work.js';

/** Rooms of one look; those looked at longest ago come first, so that busy ones cannot starve the others. */
const ROOMS = 32;
/** Messages of one look, divided among its rooms: some 20 ms when all of them are work (measured). */
const MESSAGES = 2048;

// Call it under the runtime's lock. Jobs and cursors are written together, and both come from one snapshot: messages
// become visible in the order of their sequence, so a cursor at N has passed all that is at or below N. Positions are
// given in the order of the rows (first messages of all rooms, then second ones ...), so a claim meets the jobs of a
// room in sequence and of several rooms in turn.
const scanRooms = statement<{ found: number }>(
  'runtimes_scan_rooms',
  `WITH room AS MATERIALIZED (
     SELECT r.id, r.kind, coalesce(c.seq, 0) AS seq
     FROM memberships s JOIN rooms r ON r.id = s.room_id AND r.gate = 'open'
     LEFT JOIN runtime_cursors c ON c.runtime_id = $1 AND c.room_id = r.id
     WHERE s.identity_id = $2 AND ($3::uuid[] IS NULL OR r.id = ANY ($3)) AND r.last_seq > coalesce(c.seq, 0)
     ORDER BY c.scanned_at NULLS FIRST, r.id LIMIT ${ROOMS}
   ),
   page AS MATERIALIZED (
     SELECT room.id AS room_id, m.seq, m.id, ${IS_WORK} AS is_work, ${MESSAGE_DEADLINE} AS deadline
     FROM runtimes rt CROSS JOIN room CROSS JOIN LATERAL (
       SELECT seq, id, sender_id, type, mentions, attention, revision FROM messages
       WHERE room_id = room.id AND seq > room.seq
       ORDER BY seq LIMIT (SELECT ${MESSAGES} / count(*) FROM room)
     ) AS m
     WHERE rt.id = $1
   ),
   moved AS (
     INSERT INTO runtime_cursors (runtime_id, room_id, seq, scanned_at)
     SELECT $1, room_id, max(seq), clock_timestamp() FROM page GROUP BY room_id
     ON CONFLICT (runtime_id, room_id) DO UPDATE SET seq = excluded.seq, scanned_at = excluded.scanned_at
   ),
   found AS (
     INSERT INTO runtime_deliveries (id, runtime_id, room_id, seq, message_id, expires_at, due_at)
     SELECT gen_random_uuid(), $1, room_id, seq, id, deadline, statement_timestamp()
     FROM (SELECT *, row_number() OVER (PARTITION BY room_id ORDER BY seq) AS nth FROM page WHERE is_work) AS work
     ORDER BY nth, room_id
     ON CONFLICT (runtime_id, message_id) DO NOTHING
     RETURNING 1
   )
   SELECT count(*)::int AS found FROM found`,
);

/** Looks through a bounded part of what an identity's rooms have new; answers how many jobs came of it. */
export async function scanForWork(
  sql: Sql,
  runtimeId: string,
  identityId: string,
  roomIds: readonly string[] | null,
): Promise<number> {
  const [row] = await sql.query(scanRooms, [runtimeId, identityId, roomIds]);
  return row?.found ?? 0;
}
