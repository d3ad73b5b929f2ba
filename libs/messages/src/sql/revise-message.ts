import { type Sql, statement, type Transaction } from '@relayger/kernel';
import { lexemesOf } from './search-terms.js';

/** A message that its sender, still a member, holds locked. */
export interface OwnMessageRow {
  seq: string;
  type: string;
  payload: unknown;
  revision: { state: 'corrected' | 'retracted'; count: number } | null;
  /** Older than a message may be to be revised. */
  settled: boolean;
}

// One row by unique index, with the caller's membership. Its lock comes before the room's, as all locks of own rows
// do; whoever revises the message at the same moment waits here and then sees what this transaction stored.
const lockOwn = statement<OwnMessageRow>(
  'messages_lock_own',
  `SELECT m.seq, m.type, m.payload, m.revision,
          clock_timestamp() > m.created_at + make_interval(hours => $4) AS settled
   FROM messages m
   JOIN memberships s ON s.room_id = m.room_id AND s.identity_id = m.sender_id
   WHERE m.room_id = $1 AND m.id = $2 AND m.sender_id = $3
   FOR NO KEY UPDATE OF m`,
);

/** Locks a message of the caller; null when it is somebody else's, or the caller is no longer a member. */
export async function lockOwnMessage(
  sql: Transaction,
  roomId: string,
  messageId: string,
  senderId: string,
  hours: number,
): Promise<OwnMessageRow | null> {
  return (await sql.query(lockOwn, [roomId, messageId, senderId, hours]))[0] ?? null;
}

const findKey = statement<{ id: string; seq: string; same: boolean }>(
  'messages_find_key',
  `SELECT id, seq, fingerprint = decode($4, 'hex') AS same FROM messages
   WHERE room_id = $1 AND sender_id = $2 AND client_message_id = $3`,
);

/**
 * What this key of the sender has stored in the room before, and whether it was the same content. A statement of its
 * own behind the lock: its snapshot has what a parallel retry committed while the lock was awaited.
 */
export async function selectKey(
  sql: Sql,
  roomId: string,
  senderId: string,
  key: { clientMessageId: string; fingerprint: string },
): Promise<{ id: string; seq: string; same: boolean } | null> {
  const values = [roomId, senderId, key.clientMessageId, key.fingerprint];
  return (await sql.query(findKey, values))[0] ?? null;
}

// json_build_object keeps the order of the envelope's schema.
const update = statement(
  'messages_update_revised',
  `UPDATE messages SET
     payload = $3::json,
     search = ${lexemesOf('$6', 'type')},
     attention = CASE WHEN $4 = 'corrected' THEN attention END,
     revision = json_build_object('state', $4::text, 'count', $5::int, 'at',
       to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
   WHERE room_id = $1 AND id = $2`,
);

/** Puts the new payload in place; a retracted message also loses its attention. */
export async function updateRevised(
  sql: Transaction,
  roomId: string,
  messageId: string,
  to: { state: 'corrected' | 'retracted'; count: number; payload: object; words: string | null },
): Promise<void> {
  await sql.query(update, [
    roomId,
    messageId,
    JSON.stringify(to.payload),
    to.state,
    to.count,
    to.words,
  ]);
}

// The events reply to the message, so they lie in its thread: one range of messages_room_id_thread_id_seq_idx. Only
// who holds the message's lock changes them.
const strip = statement(
  'messages_strip_corrections',
  `UPDATE messages e SET payload = json_build_object('messageId', e.payload -> 'messageId',
     'sequence', e.payload -> 'sequence', 'action', e.payload -> 'action')
   FROM messages m
   WHERE m.room_id = $1 AND m.id = $2
     AND e.room_id = m.room_id AND e.thread_id = coalesce(m.thread_id, m.id) AND e.seq > m.seq
     AND e.reply_to = m.id AND e.type = 'revision'`,
);

/** Takes the content out of a message's earlier correction events. */
export async function stripCorrections(
  sql: Transaction,
  roomId: string,
  messageId: string,
): Promise<void> {
  await sql.query(strip, [roomId, messageId]);
}
