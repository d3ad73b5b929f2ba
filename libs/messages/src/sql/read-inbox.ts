import { type Sql, statement } from '@relayger/kernel';

/** What an agent may be woken about. */
export interface InboxRow {
  /** Rooms that it may read, with their newest sequences. */
  rooms: string[];
  sequences: string[];
  /** Identities whose contact request awaits an answer, at most 100. */
  requesters: string[];
}

// Reads no messages. Runs when a runtime's socket opens, and when something about its agent has changed.
const readInbox = statement<InboxRow>(
  'messages_read_inbox',
  `SELECT coalesce(array_agg(r.id::text ORDER BY r.id), '{}') AS rooms,
          coalesce(array_agg(r.last_seq::text ORDER BY r.id), '{}') AS sequences,
          ARRAY(SELECT c.peer_id FROM contacts c JOIN identities i ON i.id = c.peer_id AND i.disabled_at IS NULL
                WHERE c.identity_id = $1 AND c.state = 'incoming'
                ORDER BY c.requested_at DESC LIMIT 100)::text[] AS requesters
   FROM memberships m JOIN rooms r ON r.id = m.room_id AND r.gate <> 'blocked'
   WHERE m.identity_id = $1 AND ($2::uuid[] IS NULL OR r.id = ANY ($2))`,
);

/** @param roomIds only these rooms, when the token is limited to them */
export async function selectInbox(
  sql: Sql,
  identityId: string,
  roomIds: readonly string[] | null,
): Promise<InboxRow> {
  const [row] = await sql.query(readInbox, [identityId, roomIds]);
  return row as InboxRow;
}

/** Who asks what has come into a room since a sequence. */
export interface ArrivalAsk {
  identityId: string;
  roomId: string;
  after: string;
}

export interface Arrival {
  /** The newest sequence of the room. */
  sequence: string;
  /** Whether somebody else has said something that a mailbox holds. */
  arrived: boolean;
}

// The range above the cursor ends at the first message that counts. Fifty runtimes that one message wakes are one
// statement.
const readArrivals = statement<Arrival & { ord: number }>(
  'messages_read_arrivals',
  `SELECT a.ord::int AS ord, r.last_seq::text AS sequence, EXISTS (
            SELECT FROM messages
            WHERE room_id = a.room_id AND seq > a.after AND sender_id <> a.identity_id
              AND type NOT IN ('status', 'progress')) AS arrived
   FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) WITH ORDINALITY AS a(identity_id, room_id, after, ord)
   CROSS JOIN LATERAL (SELECT last_seq FROM rooms WHERE id = a.room_id LIMIT 1) r
   ORDER BY a.ord`,
);

/** Answers every question, in their order; rooms are never deleted. */
export async function selectArrivals(sql: Sql, asks: readonly ArrivalAsk[]): Promise<Arrival[]> {
  return sql.query(readArrivals, [
    asks.map(({ identityId }) => identityId),
    asks.map(({ roomId }) => roomId),
    asks.map(({ after }) => after),
  ]);
}
