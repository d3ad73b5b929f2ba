import { randomUUID } from 'node:crypto';
import { type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { ApiClient } from '@relayger/kernel/testing';
import type { Message, Receipt, ReviseMessageRequest, SendMessage } from '@relayger/protocol';
import { reason, upTo } from './support.js';

type Door = { api: ApiClient };
type Sender = Pick<TestAgent, 'token'>;

/** Sends a message; the whole envelope. */
export async function sendFull(
  { api }: Door,
  { token }: Sender,
  room: string,
  body: SendMessage,
): Promise<Message> {
  const reply = await api.call('sendMessage', { token, params: { room }, body, expect: 201 });
  return reply.body as Message;
}

export const receiptOf = ({ messageId, conversationId, sequence }: Message): Receipt => ({
  id: messageId,
  room: conversationId,
  seq: sequence,
});

/** A correction with a key of its own. */
export const correction = (
  payload: string | object,
  clientMessageId: string = randomUUID(),
): ReviseMessageRequest => ({
  action: 'correct',
  clientMessageId,
  payload: (typeof payload === 'string' ? { text: payload } : payload) as { text: string },
});

export const retraction = (clientMessageId: string = randomUUID()): ReviseMessageRequest => ({
  action: 'retract',
  clientMessageId,
});

/** Revises a message; the receipt of a new event. */
export async function revise(
  { api }: Door,
  { token }: Sender,
  { room, id }: Pick<Receipt, 'room' | 'id'>,
  body: ReviseMessageRequest,
): Promise<Receipt> {
  const reply = await api.call('reviseMessage', { token, params: { room, id }, body, expect: 201 });
  return reply.body;
}

/** Revises a message, which must be refused; the first issue's path for `invalid_request`, else the code. */
export async function refuseRevision(
  { api }: Door,
  { token }: Sender,
  { room, id }: Pick<Receipt, 'room' | 'id'>,
  body: unknown,
  status = 409,
): Promise<string> {
  const options = { token, params: { room, id }, body, expect: status as 409 };
  return reason(await api.call('reviseMessage', options));
}

/** Any number of revisions at once; the replies whatever their status. */
export function reviseRaw(
  { api }: Door,
  { token }: Sender,
  { room, id }: Pick<Receipt, 'room' | 'id'>,
  body: ReviseMessageRequest | string,
) {
  const rawBody = typeof body === 'string' ? body : JSON.stringify(body);
  return api.raw('POST', `/v1/rooms/${room}/messages/${id}/revise`, { token, rawBody });
}

/** One message as it is stored now. */
export async function messageAt(
  { api }: Door,
  { token }: Sender,
  { room, id }: Pick<Receipt, 'room' | 'id'>,
): Promise<Message> {
  const reply = await api.call('getMessage', { token, params: { room, id }, expect: 200 });
  return reply.body;
}

/** A draft of any type with a key of its own. */
export const draft = (type: string, payload: unknown, more: object = {}): SendMessage =>
  ({ ...textMessage(''), type, payload, ...more }) as SendMessage;

/** Files that look uploaded; their bytes are nowhere. */
export async function seedFiles(
  { database }: TestApi,
  room: string,
  { id }: Pick<TestAgent, 'id'>,
  count: number,
  state = 'ready',
): Promise<string[]> {
  const ids = upTo(count).map(() => randomUUID());
  await database.pool.query(
    `WITH file AS (
       INSERT INTO files (id, room_id, uploader_id, name, size, sha256, object_key, state)
       SELECT id, $2, $3, 'a.txt', 100, sha256('a'), 'seeded/' || id, $4 FROM unnest($1::uuid[]) AS id)
     UPDATE rooms SET stored_bytes = stored_bytes + $5 WHERE id = $2`,
    [ids, room, id, state, state === 'ready' ? 100 * count : 0],
  );
  return ids;
}

/** Moves the moment of a message's storing, on the database's clock. */
export async function sentAgo({ database }: TestApi, { id }: Pick<Receipt, 'id'>, ago: string) {
  const text = 'UPDATE messages SET created_at = clock_timestamp() - $2::interval WHERE id = $1';
  await database.pool.query(text, [id, ago]);
}
