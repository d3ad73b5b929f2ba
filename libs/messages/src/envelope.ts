import type { Principal } from '@relayger/kernel';
import type { MailboxItem, Message, SendMessage } from '@relayger/protocol';
import type { AppendRow } from './sql/append-messages.js';
import type { MessageRow } from './sql/list-messages.js';
import type { PendingRow } from './sql/read-mailboxes.js';

// Payloads in the database were validated on their way in; their static type is restored here, once.

/** A stored message in full. */
export function toMessage(row: MessageRow): Message {
  return {
    schemaVersion: 1,
    messageId: row.id,
    conversationId: row.room_id,
    sequence: row.seq,
    sender: {
      id: row.sender_id,
      handle: row.sender_handle,
      kind: row.sender_kind,
      number: row.sender_number,
    },
    createdAt: row.created_at.toISOString(),
    traceId: row.trace_id,
    type: row.type,
    payload: row.payload,
    clientMessageId: row.client_message_id,
    ...(row.reply_to !== null && { replyTo: row.reply_to }),
    mentions: row.mentions,
    ...(row.root_task_id !== null && { rootTaskId: row.root_task_id }),
    ...(row.revision !== null && { revision: row.revision }),
    ...(row.attention !== null && { attention: row.attention }),
  } as Message;
}

/** The full envelope of a message that the caller has just stored, without reading it back. */
export function sentMessage(
  sender: Principal,
  roomId: string,
  message: SendMessage,
  row: AppendRow,
): Message {
  return toMessage({
    room_id: roomId,
    seq: row.seq,
    id: row.id,
    client_message_id: message.clientMessageId,
    type: message.type,
    payload: message.payload,
    reply_to: message.replyTo ?? null,
    root_task_id: message.rootTaskId ?? null,
    mentions: message.mentions ?? [],
    attention: 'attention' in message && message.attention ? message.attention : null,
    revision: null,
    trace_id: row.trace_id,
    created_at: row.created_at,
    sender_id: sender.identityId,
    sender_handle: sender.handle,
    sender_kind: sender.kind,
    sender_number: sender.number,
  });
}

/** A pending message in the short view. */
export function toMailboxItem(row: PendingRow): MailboxItem {
  return {
    id: row.id,
    room: row.room,
    seq: row.seq,
    from: row.sender_number ?? row.sender_id,
    type: row.type,
    body: row.body,
    ...(row.reply !== null && { reply: row.reply }),
    ...(row.root !== null && { root: row.root }),
    ...(row.mentions.length > 0 && { mentions: row.mentions }),
    ...(row.attention !== null && { attention: row.attention }),
  } as MailboxItem;
}
