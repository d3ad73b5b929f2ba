import { pendingRequesters } from '@relayger/contacts';
import { type Sql, statement } from '@relayger/kernel';

/** One identity's question. */
export interface MailboxAsk {
  identityId: string;
  /** Only these rooms, when the token is limited to them. */
  roomIds: readonly string[] | null;
  limit: number;
  consume: boolean;
  /** Also answer the rooms to wait for. */
  rooms: boolean;
}

export interface PendingRow {
  id: string;
  room: string;
  seq: string;
  sender_id: string;
  sender_number: string;
  type: string;
  body: unknown;
  reply: string | null;
  root: string | null;
  mentions: string[];
  attention: unknown;
}

export interface MailboxRow {
  ord: number;
  /** Identities whose contact request awaits an answer, newest first, at most 100. */
  requesters: string[];
  /** Rooms of the identity, when asked for. */
  rooms: string[] | null;
  page: PendingRow[] | null;
}

/**
 * The hottest read: the pending messages of many identities at once, so that fifty waiters woken by one message
 * cost one statement.
 *
 * Every room gives a page of its own, a contiguous run from its cursor; the pages are merged by position (all
 * first ones, then all second ones, ...), so a busy room cannot starve the others and whatever part of a room
 * is returned is a prefix: nothing is ever skipped. Rooms without news are dropped by comparing last_seq with
 * the cursor, before any message is read.
 *
 * `consumed` moves the cursors in the same statement, past own and live events that follow, up to the next
 * message that is pending. It commits without waiting for the disk (synchronous_commit off, for this
 * transaction only): after a crash of the database server some cursors may be back where they were and their
 * messages come again, which at-least-once delivery allows. Rows are locked in a fixed order against deadlocks.
 */
const readMailboxes = statement<MailboxRow>(
  'messages_read_mailboxes',
  `WITH ask AS MATERIALIZED (
     SELECT *, CASE WHEN consume THEN set_config('synchronous_commit', 'off', true) END
     FROM json_to_recordset($1::json) AS a(
       ord int, identity_id uuid, room_ids uuid[], page_size int, consume boolean, want_rooms boolean)
   ),
   page AS MATERIALIZED (
     SELECT a.ord, a.identity_id, a.consume, p.*
     FROM ask a CROSS JOIN LATERAL (
       SELECT m.room_id, r.last_seq, x.*, row_number() OVER (PARTITION BY m.room_id ORDER BY x.seq) AS nth
       FROM memberships m
       JOIN rooms r ON r.id = m.room_id AND r.last_seq > m.delivered_seq AND r.gate <> 'blocked'
       CROSS JOIN LATERAL (
         SELECT seq, id, sender_id, type, payload, reply_to, root_task_id, mentions, attention
         FROM messages
         WHERE room_id = m.room_id AND seq > m.delivered_seq AND sender_id <> m.identity_id
           AND type NOT IN ('status', 'progress')
         ORDER BY seq LIMIT a.page_size
       ) AS x
       WHERE m.identity_id = a.identity_id AND (a.room_ids IS NULL OR m.room_id = ANY (a.room_ids))
       ORDER BY nth, m.room_id LIMIT a.page_size
     ) AS p
   ),
   target AS (
     SELECT t.identity_id, t.room_id, coalesce(
       (SELECT min(seq) - 1 FROM messages
        WHERE room_id = t.room_id AND seq > t.top AND sender_id <> t.identity_id
          AND type NOT IN ('status', 'progress')),
       t.last_seq) AS to_seq
     FROM (SELECT identity_id, room_id, max(seq) AS top, max(last_seq) AS last_seq
           FROM page WHERE consume GROUP BY identity_id, room_id) AS t
   ),
   locked AS (
     SELECT m.room_id, m.identity_id, t.to_seq
     FROM memberships m JOIN target t ON t.room_id = m.room_id AND t.identity_id = m.identity_id
     ORDER BY m.room_id, m.identity_id
     FOR NO KEY UPDATE OF m
   ),
   consumed AS (
     UPDATE memberships m SET delivered_seq = l.to_seq
     FROM locked l
     WHERE m.room_id = l.room_id AND m.identity_id = l.identity_id AND m.delivered_seq < l.to_seq
   )
   SELECT a.ord,
     ARRAY(${pendingRequesters('a.identity_id')})::text[] AS requesters,
     CASE WHEN a.want_rooms THEN ARRAY(
       SELECT room_id FROM memberships
       WHERE identity_id = a.identity_id AND (a.room_ids IS NULL OR room_id = ANY (a.room_ids)))::text[]
     END AS rooms,
     (SELECT json_agg(json_build_object(
        'id', p.id, 'room', p.room_id, 'seq', p.seq::text, 'sender_id', p.sender_id, 'sender_number', i.number,
        'type', p.type, 'body', p.payload, 'reply', p.reply_to, 'root', p.root_task_id, 'mentions', p.mentions,
        'attention', p.attention) ORDER BY p.nth, p.room_id)
      FROM page p JOIN identities i ON i.id = p.sender_id
      WHERE p.ord = a.ord) AS page
   FROM ask a`,
);

/** Answers every question, in their order. */
export async function selectMailboxes(
  sql: Sql,
  asks: readonly MailboxAsk[],
): Promise<MailboxRow[]> {
  const question = asks.map(({ identityId, roomIds, limit, consume, rooms }, ord) => ({
    ord,
    identity_id: identityId,
    room_ids: roomIds,
    page_size: limit,
    consume,
    want_rooms: rooms,
  }));
  const rows = await sql.query(readMailboxes, [JSON.stringify(question)]);
  return rows.sort((a, b) => a.ord - b.ord);
}
