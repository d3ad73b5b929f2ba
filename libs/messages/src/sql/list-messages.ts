import { type Sql, statement } from '@relayger/kernel';
import type { IdentityKind } from '@relayger/protocol';

export interface MessageRow {
  room_id: string;
  seq: string;
  id: string;
  client_message_id: string;
  type: string;
  payload: unknown;
  reply_to: string | null;
  mentions: string[];
  attention: unknown;
  trace_id: string;
  created_at: Date;
  root_task_id: string | null;
  revision: unknown;
  sender_id: string;
  sender_handle: string;
  sender_kind: IdentityKind;
  sender_number: string;
}

/** A message with its sender, for statements that read `messages m JOIN identities i`. */
export const MESSAGE_COLUMNS = `m.room_id, m.seq, m.id, m.client_message_id, m.type, m.payload, m.reply_to, m.mentions,
  m.attention, m.trace_id, m.created_at, m.root_task_id, m.revision, i.id AS sender_id, i.handle AS sender_handle, i.kind AS sender_kind,
  i.number AS sender_number`;

const FROM = 'FROM messages m JOIN identities i ON i.id = m.sender_id WHERE m.room_id = $1';

// Both read one range of the primary key (room_id, seq), whatever the room's size: the limit is a subquery because a
// planner that knows it, and takes the room for a small one, reads the whole room and sorts it.
const listAfter = statement<MessageRow>(
  'messages_list_after',
  `SELECT ${MESSAGE_COLUMNS} ${FROM} AND m.seq > $2 ORDER BY m.seq LIMIT (SELECT $3::bigint)`,
);
const listBefore = statement<MessageRow>(
  'messages_list_before',
  `SELECT ${MESSAGE_COLUMNS} ${FROM} AND m.seq < $2 ORDER BY m.seq DESC LIMIT (SELECT $3::bigint)`,
);

const getOne = statement<MessageRow>(
  'messages_get',
  `SELECT ${MESSAGE_COLUMNS} ${FROM} AND m.id = $2`,
);

/** One message of a room. */
export async function selectMessage(
  sql: Sql,
  roomId: string,
  messageId: string,
): Promise<MessageRow | null> {
  return (await sql.query(getOne, [roomId, messageId]))[0] ?? null;
}

const MAX_INT64 = '9223372036854775807';

/** A page of a room's history in ascending order: above `after`, below `before`, or the newest. */
export async function selectMessages(
  sql: Sql,
  roomId: string,
  {
    after,
    before,
    limit,
  }: { after?: string | undefined; before?: string | undefined; limit: number },
): Promise<MessageRow[]> {
  if (after !== undefined) return sql.query(listAfter, [roomId, after, limit]);
  return (await sql.query(listBefore, [roomId, before ?? MAX_INT64, limit])).reverse();
}
