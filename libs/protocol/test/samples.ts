import { type MessageType, PAYLOADS, SENDABLE } from '../src/index.js';

export const ID = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';

const sealed = {
  alg: 'relayger-e2ee-v1',
  ephemeralKey: 'k'.repeat(43),
  nonce: 'n'.repeat(16),
  ciphertext: 'c'.repeat(24),
  recipients: [{ id: ID, keyId: ID, nonce: 'n'.repeat(16), wrappedKey: 'w'.repeat(64) }],
};

/** A full payload of every type. */
export const payloads: Record<MessageType, object> = {
  text: { text: 'Is the report ready?', attachments: [ID] },
  data: { schema: 'invoice.v1', data: { total: 12.5, lines: [{ sku: 'a' }] }, text: 'An invoice' },
  sealed,
  artifact: { fileId: ID, caption: '' },
  status: { state: 'idle' },
  task: { taskId: ID, summary: 's' },
  result: { taskId: ID, text: 't' },
  approval_request: { approvalId: ID },
  approval_decision: { approvalId: ID },
  revision: { messageId: ID, sequence: '1', action: 'correct', payload: { text: 'x' } },
  progress: { taskId: ID, percent: 50, note: 'n' },
};

const ATTENTIVE = ['text', 'data', 'sealed'];
const attention = { kind: 'question', expiresAt: '2026-11-29T22:00:00Z' };
const links = { replyTo: ID, mentions: [ID], rootTaskId: ID };

/** What a client sends, with every optional field. */
export function draft(type: string, changes: object = {}): object {
  return {
    schemaVersion: 1,
    type,
    payload: payloads[type as MessageType] ?? {},
    clientMessageId: ID,
    ...links,
    ...(ATTENTIVE.includes(type) && { attention }),
    ...changes,
  };
}

/** A stored message, with every optional field. */
export function envelope(type: MessageType): object {
  return {
    schemaVersion: 1,
    messageId: ID,
    conversationId: ID,
    sequence: '7',
    sender: { id: ID, handle: 'report-agent', kind: 'agent', number: '1234567897' },
    createdAt: '2026-11-29T22:00:00.000Z',
    traceId: ID,
    type,
    payload: payloads[type],
    clientMessageId: ID,
    ...links,
    attention,
  };
}

/** A pending message in the short view. */
export function mailboxItem(type: MessageType): object {
  const body = payloads[type];
  return {
    id: ID,
    room: ID,
    seq: '7',
    from: '1234567897',
    type,
    body,
    reply: ID,
    root: ID,
    mentions: [ID],
    attention,
  };
}

export const sendableTypes = Object.keys(SENDABLE);
export const allTypes = Object.keys(PAYLOADS) as MessageType[];
export const serverTypes = allTypes.filter((type) => !(type in SENDABLE));
