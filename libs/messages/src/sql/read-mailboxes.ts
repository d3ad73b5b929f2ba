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

/** So many messages that are not pending may lie behind a cursor before a read moves it past them. */
const SLACK = 256;

/**
 * The hottest read: the pending messages of many identities at once, so that fifty waiters woken by one message
 * cost one statement.
 *
 * `behind` drops the rooms without news by comparing last_seq with the cursor, before any message is read: two
 * look-ups a room, 1 us (a thousand rooms of which ten have news take 1.3 ms, ten rooms 0.4 ms). Every room gives a
 * page of its own, a contiguous run from its cursor; the pages are merged by position (all first ones, then all second
 * ones, ...), so a busy room cannot starve the others and whatever part of a room is returned is a prefix: nothing is
 * ever skipped.
 *
 * `consumed` moves the cursors in the same statement, past own and live events that follow, up to the next
 * message that is pending. It commits without waiting for the disk (synchronous_commit off, for this
 * transaction only): after a crash of the database server some cursors may be back where they were and their
 * messages come again, which at-least-once delivery allows. Rows are locked in a fixed order against deadlocks.
 *
 * It also moves cursors, of any reader, over long runs of what is never pending. A room in which others only report
 * their state would otherwise be looked through from the old cursor by every read: 30 ms for 100,000 events. So each
 * event is passed once, and a write comes once in ${SLACK} of them. Nobody can see it: rooms and members show the cursor just
 * before the first pending message anyway.
 *
 * The look-ups are LATERAL with LIMIT or OFFSET, and the update names its rows twice: PostgreSQL expects a hundred questions from
 * the JSON, and would read all memberships for so many.
 */
const readMailboxes = statement<MailboxRow>(
  'messages_read_mailboxes',
  `WITH ask AS MATERIALIZED (
     SELECT *, set_config('synchronous_commit', 'off', true)
     FROM json_to_recordset($1::json) AS a(
       ord int, identity_id uuid, room_ids uuid[], page_size int, consume boolean, want_rooms boolean)
   ),
   behind AS MATERIALIZED (
     SELECT a.ord, a.identity_id, a.consume, a.page_size, m.room_id, m.delivered_seq, r.last_seq
     FROM ask a
     CROSS JOIN LATERAL (
       SELECT room_id, delivered_seq FROM memberships
       WHERE identity_id = a.identity_id AND (a.room_ids IS NULL OR room_id = ANY (a.room_ids)) OFFSET 0) AS m
     CROSS JOIN LATERAL (
       SELECT last_seq FROM rooms
       WHERE id = m.room_id AND last_seq > m.delivered_seq AND gate <> 'blocked' LIMIT 1) AS r
   ),
   page AS MATERIALIZED (
     SELECT * FROM (
       SELECT *, row_number() OVER (PARTITION BY ord ORDER BY nth, room_id) AS place FROM (
         SELECT b.*, x.*, row_number() OVER (PARTITION BY b.ord, b.room_id ORDER BY x.seq) AS nth
         FROM behind b CROSS JOIN LATERAL (
           SELECT seq, id, sender_id, type, payload, reply_to, root_task_id, mentions, attention
           FROM messages
           WHERE room_id = b.room_id AND seq > b.delivered_seq AND sender_id <> b.identity_id
             AND type NOT IN ('status', 'progress')
           ORDER BY seq LIMIT b.page_size
         ) AS x
       ) AS of_rooms
     ) AS merged
     WHERE place <= page_size
   ),
   target AS (
     SELECT t.identity_id, t.room_id, coalesce(
       (SELECT min(seq) - 1 FROM messages
        WHERE room_id = t.room_id AND seq > t.top AND sender_id <> t.identity_id
          AND type NOT IN ('status', 'progress')),
       t.last_seq) AS to_seq
     FROM (
       SELECT identity_id, room_id, max(seq) AS top, max(last_seq) AS last_seq
       FROM page WHERE consume GROUP BY identity_id, room_id
       UNION ALL
       SELECT identity_id, room_id, min(delivered_seq), max(last_seq) FROM behind
       WHERE last_seq - delivered_seq > ${SLACK} GROUP BY identity_id, room_id
     ) AS t
   ),
   locked AS (
     SELECT m.room_id, m.identity_id, t.to_seq
     FROM (SELECT identity_id, room_id, max(to_seq) AS to_seq FROM target GROUP BY 1, 2 ORDER BY 2, 1) AS t
     CROSS JOIN LATERAL (
       SELECT room_id, identity_id FROM memberships
       WHERE room_id = t.room_id AND identity_id = t.identity_id AND delivered_seq < t.to_seq
       LIMIT 1 FOR NO KEY UPDATE) AS m
   ),
   consumed AS (
     UPDATE memberships m SET delivered_seq = l.to_seq
     FROM locked l
     WHERE m.room_id = ANY (ARRAY(SELECT room_id FROM locked))
       AND m.identity_id = ANY (ARRAY(SELECT identity_id FROM locked))
       AND m.room_id = l.room_id AND m.identity_id = l.identity_id AND m.delivered_seq < l.to_seq
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
