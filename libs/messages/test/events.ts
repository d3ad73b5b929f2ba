import { randomUUID } from 'node:crypto';
import type { TestAgent, TestApi } from '@relayger/api/testing';
import type { MessageType, Receipt } from '@relayger/protocol';

/** Stores what only the server makes, as it would: numbered by the room's row. */
export async function storeEvent(
  { database }: TestApi,
  room: string,
  { id: sender }: Pick<TestAgent, 'id'>,
  type: MessageType,
  payload: object,
): Promise<Receipt> {
  const id = randomUUID();
  const { rows } = await database.pool.query(
    `WITH room AS (UPDATE rooms SET last_seq = last_seq + 1 WHERE id = $1 RETURNING last_seq)
     INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, trace_id)
     SELECT $1, last_seq, $2, $3, $2, sha256('event'), $4, $5, $2 FROM room RETURNING seq`,
    [room, id, sender, type, JSON.stringify(payload)],
  );
  return { id, room, seq: rows[0].seq };
}
