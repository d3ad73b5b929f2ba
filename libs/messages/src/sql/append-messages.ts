import { type Sql, statement } from '@relayger/kernel';
import type { Address } from '@relayger/protocol';
import { lexemesOf } from './search-terms.js';

/** One message to store. */
export interface AppendItem {
  id: string;
  /** A room, or the identity whose direct conversation with the sender is meant. */
  to: { room: string } | { target: Address };
  senderId: string;
  /** People also have a cursor of what they have seen, which moves with what they send. */
  human: boolean;
  /** Rooms that the sender's token is limited to; null means no limit. */
  allowedRooms: readonly string[] | null;
  clientMessageId: string;
  /** SHA-256, hex. */
  fingerprint: string;
  type: string;
  payload: string;
  /** What search finds it by (`searchWords`); null for what search does not know. */
  words: string | null;
  replyTo: string | null;
  rootTaskId: string | null;
  mentions: readonly string[];
  /** Files that the payload uses; they must be ready and of the room. */
  files: readonly string[];
  /** Identities that a sealed payload is encrypted for; they must be members. */
  recipients: readonly string[];
  attention: string | null;
  traceId: string;
}

export type AppendOutcome =
  | 'stored'
  | 'repeated'
  | 'conflict'
  | 'no_target'
  | 'self'
  | 'no_dm'
  | 'no_room'
  | 'closed'
  | 'blocked'
  | 'bad_reply'
  | 'bad_mentions'
  | 'bad_recipients'
  | 'bad_files'
  | 'stale';

export interface AppendRow {
  outcome: AppendOutcome;
  /** Of the stored message, or of the one that this key had stored before. */
  id: string;
  /** Null when there is no conversation with the target yet (`no_dm`), or no target. */
  room_id: string | null;
  seq: string;
  trace_id: string;
  created_at: Date;
}

/**
 * The hottest write. One statement, one transaction, any number of messages:
 *
 * 1. `item` finds the direct conversation of an address: three look-ups by unique index instead of an OR over three
 *    columns, which would use none. A disabled identity cannot be addressed.
 * 2. `checked` reads room, membership, gate, references and an earlier message under the same key, all in the
 *    statement's snapshot.
 * 3. `bumped` takes the room row and raises `last_seq`. The row lock is held until commit, so sequences become
 *    visible in commit order and a reader that passed N never misses N-1. While the lock was awaited, somebody
 *    may have been removed or blocked, or a file withdrawn: that raised `access_version`, the row no longer matches the snapshot's
 *    value, nothing is stored and the outcome is `stale` (the caller runs the statement again).
 * 4. `stored` inserts. A parallel retry of the same key that committed after our snapshot trips the unique
 *    index; the whole statement is undone, sequences included, so there is no gap. The caller runs it again and
 *    then sees the earlier message.
 * 5. `cursor` moves the sender's mailbox up to the first message of somebody else that still waits
 *    (contract/http.md section 6). Of messages that others committed after our snapshot we know only that they
 *    exist, from the jump of `last_seq`, so then the cursor stops at what the snapshot saw.
 *
 * Locks are taken in the order rooms, memberships, each by id, as reading with consume does; where a plan still
 * mixes them up, PostgreSQL ends one of the two statements and the caller runs it again.
 *
 * The look-ups are LATERAL with LIMIT 1, so that they are index look-ups in every plan: PostgreSQL expects a
 * hundred rows from the JSON, and a plan made while the tables are small would otherwise join by scanning them. Of
 * messages they look for the first key from the wanted one on: only one index gives that order. For an equal key every
 * index that begins with the room looks as good while the table is small, and then reads whole rooms once they grow.
 */
const appendMessages = statement<AppendRow>(
  'messages_append',
  `WITH item AS MATERIALIZED (
     SELECT i.*, d.target_id, coalesce(i.room, d.room_id) AS room_id
     FROM json_to_recordset($1::json) AS i(
       ord int, id uuid, room uuid, target_kind text, target text, sender_id uuid, human boolean, allowed_rooms uuid[], key uuid,
       fingerprint text, type text, payload json, words text, reply_to uuid, root_task_id uuid,
       mentions uuid[], files uuid[], recipients uuid[], attention json, trace_id uuid)
     LEFT JOIN LATERAL (
       SELECT t.id AS target_id,
              (SELECT id FROM rooms
               WHERE dm_low = least(t.id, i.sender_id) AND dm_high = greatest(t.id, i.sender_id)) AS room_id
       FROM (SELECT id, disabled_at FROM identities WHERE i.target_kind = 'number' AND number = i.target
             UNION ALL SELECT id, disabled_at FROM identities WHERE i.target_kind = 'handle' AND handle = i.target
             UNION ALL SELECT id, disabled_at FROM identities
               WHERE i.target_kind = 'id' AND id = CASE WHEN i.target_kind = 'id' THEN i.target::uuid END) AS t
       WHERE t.disabled_at IS NULL LIMIT 1) AS d ON i.target_kind IS NOT NULL
   ),
   checked AS MATERIALIZED (
     SELECT i.*, r.last_seq AS snapshot_seq, r.access_version, m.delivered_seq, m.seen_seq,
            prior.id AS prior_id, prior.seq AS prior_seq, prior.trace_id AS prior_trace,
            prior.created_at AS prior_at, parent.thread_id,
            CASE
              WHEN i.target_kind IS NOT NULL AND i.target_id IS NULL THEN 'no_target'
              WHEN i.target_id = i.sender_id THEN 'self'
              WHEN i.room_id IS NULL THEN 'no_dm'
              WHEN m.room_id IS NULL OR i.room_id <> ALL (i.allowed_rooms) THEN 'no_room'
              WHEN prior.id IS NOT NULL THEN
                CASE WHEN prior.fingerprint = decode(i.fingerprint, 'hex') THEN 'repeated' ELSE 'conflict' END
              WHEN r.gate <> 'open' THEN r.gate
              WHEN i.reply_to IS NOT NULL AND parent.thread_id IS NULL THEN 'bad_reply'
              WHEN cardinality(i.mentions) > 0 AND cardinality(i.mentions) <> (
                SELECT count(*) FROM memberships
                WHERE room_id = i.room_id AND identity_id = ANY (i.mentions)) THEN 'bad_mentions'
              WHEN cardinality(i.recipients) > 0 AND cardinality(i.recipients) <> (
                SELECT count(*) FROM memberships
                WHERE room_id = i.room_id AND identity_id = ANY (i.recipients)) THEN 'bad_recipients'
              WHEN cardinality(i.files) > 0 AND cardinality(i.files) <> (
                SELECT count(*) FROM files
                WHERE id = ANY (i.files) AND room_id = i.room_id AND state = 'ready') THEN 'bad_files'
              ELSE 'stored'
            END AS outcome
     FROM item i
     LEFT JOIN LATERAL (
       SELECT room_id, delivered_seq, seen_seq FROM memberships
       WHERE room_id = i.room_id AND identity_id = i.sender_id LIMIT 1) m ON true
     LEFT JOIN LATERAL (
       SELECT last_seq, access_version, gate FROM rooms WHERE id = m.room_id LIMIT 1) r ON true
     LEFT JOIN LATERAL (
       SELECT client_message_id, id, seq, trace_id, created_at, fingerprint FROM messages
       WHERE room_id = i.room_id AND sender_id = i.sender_id AND client_message_id >= i.key
       ORDER BY client_message_id LIMIT 1) prior ON prior.client_message_id = i.key
     LEFT JOIN LATERAL (
       SELECT id, coalesce(thread_id, id) AS thread_id FROM messages
       WHERE room_id = i.room_id AND id >= i.reply_to ORDER BY id LIMIT 1) parent ON parent.id = i.reply_to
   ),
   accepted AS MATERIALIZED (
     SELECT *, row_number() OVER (PARTITION BY room_id ORDER BY ord) AS nth FROM checked WHERE outcome = 'stored'
   ),
   bumped AS (
     UPDATE rooms r SET last_seq = r.last_seq + a.count,
       last_message_at = greatest(r.last_message_at, clock_timestamp())
     FROM (SELECT room_id, count(*) AS count, min(access_version) AS access_version
           FROM accepted GROUP BY room_id ORDER BY room_id) a
     WHERE r.id = a.room_id AND r.access_version = a.access_version
     RETURNING r.id, r.last_seq - a.count AS base, a.count, r.last_message_at
   ),
   stored AS (
     INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, reply_to,
                           thread_id, root_task_id, mentions, attention, trace_id, search, created_at)
     SELECT a.room_id, b.base + a.nth, a.id, a.sender_id, a.key, decode(a.fingerprint, 'hex'), a.type, a.payload,
            a.reply_to, a.thread_id, a.root_task_id, a.mentions, a.attention, a.trace_id,
            ${lexemesOf('a.words', 'a.type')},
            b.last_message_at
     FROM accepted a JOIN bumped b ON b.id = a.room_id
     RETURNING id, seq, created_at
   ),
   used AS (
     INSERT INTO message_files (file_id, message_id)
     SELECT file_id, a.id FROM accepted a JOIN stored s ON s.id = a.id CROSS JOIN unnest(a.files) AS file_id
   ),
   target AS MATERIALIZED (
     SELECT a.room_id, a.sender_id, coalesce(
       (SELECT min(seq) - 1 FROM messages
        WHERE room_id = a.room_id AND seq > a.delivered_seq AND sender_id <> a.sender_id
          AND type NOT IN ('status', 'progress')),
       CASE WHEN b.base > a.snapshot_seq THEN a.snapshot_seq END,
       CASE WHEN b.count > 1 THEN
         (SELECT b.base + min(o.nth) - 1 FROM accepted o
          WHERE o.room_id = a.room_id AND o.sender_id <> a.sender_id AND o.type NOT IN ('status', 'progress')) END,
       b.base + b.count) AS to_seq,
       CASE WHEN a.human THEN coalesce(
         (SELECT min(seq) - 1 FROM messages
          WHERE room_id = a.room_id AND seq > a.seen_seq AND sender_id <> a.sender_id),
         CASE WHEN b.base > a.snapshot_seq THEN a.snapshot_seq END,
         (SELECT b.base + min(o.nth) - 1 FROM accepted o
          WHERE o.room_id = a.room_id AND o.sender_id <> a.sender_id),
         b.base + b.count) ELSE 0 END AS seen_to
     FROM (SELECT DISTINCT room_id, sender_id, human, delivered_seq, seen_seq, snapshot_seq FROM accepted) a
     JOIN bumped b ON b.id = a.room_id
     ORDER BY a.room_id, a.sender_id
   ),
   cursor AS (
     UPDATE memberships m
     SET delivered_seq = greatest(m.delivered_seq, t.to_seq), seen_seq = greatest(m.seen_seq, t.seen_to)
     FROM target t
     WHERE m.room_id = t.room_id AND m.identity_id = t.sender_id
       AND (m.delivered_seq < t.to_seq OR m.seen_seq < t.seen_to)
   )
   SELECT CASE WHEN c.outcome = 'stored' AND s.id IS NULL THEN 'stale' ELSE c.outcome END AS outcome,
          coalesce(c.prior_id, c.id) AS id, c.room_id, coalesce(s.seq, c.prior_seq) AS seq,
          coalesce(c.prior_trace, c.trace_id) AS trace_id, coalesce(s.created_at, c.prior_at) AS created_at
   FROM checked c LEFT JOIN stored s ON s.id = c.id
   ORDER BY c.ord`,
);

/** Stores messages; answers one row an item, in their order. */
export function insertMessages(sql: Sql, items: readonly AppendItem[]): Promise<AppendRow[]> {
  // Put together around texts that are JSON already.
  const records = items.map(({ to, ...item }, ord) => {
    const fields = {
      ord,
      id: item.id,
      ...('room' in to
        ? { room: to.room }
        : { target_kind: to.target.kind, target: to.target.value }),
      sender_id: item.senderId,
      human: item.human,
      allowed_rooms: item.allowedRooms,
      key: item.clientMessageId,
      fingerprint: item.fingerprint,
      type: item.type,
      words: item.words,
      reply_to: item.replyTo,
      root_task_id: item.rootTaskId,
      mentions: item.mentions,
      files: item.files,
      recipients: item.recipients,
      trace_id: item.traceId,
    };
    return `${JSON.stringify(fields).slice(0, -1)},"payload":${item.payload},"attention":${item.attention}}`;
  });
  return sql.query(appendMessages, [`[${records.join(',')}]`]);
}
