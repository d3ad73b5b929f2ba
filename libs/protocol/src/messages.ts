import { z } from 'zod';
import { AddressText } from './address.js';
import { IdentityKind } from './identities.js';
import { Handle, PlainNumber, Sequence, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { type MessageType, PAYLOADS, SENDABLE, typeId } from './payloads.js';
import { queryInt } from './query.js';

export const Attention = z
  .strictObject({
    kind: z.enum(['question', 'information', 'response']),
    expiresAt: UtcTime.optional().describe('UTC with Z; nobody needs to handle it afterwards.'),
  })
  .meta({ id: 'Attention' });
export type Attention = z.infer<typeof Attention>;

const draft = {
  schemaVersion: z.literal(1),
  clientMessageId: Uuid.describe(
    'Your key for retries: the same key with the same bytes gives the same message.',
  ),
  replyTo: Uuid.optional().describe('An earlier message of the same room.'),
  mentions: z
    .array(Uuid)
    .max(LIMITS.mentions)
    .refine((ids) => new Set(ids).size === ids.length, 'must not repeat an identity')
    .optional()
    .meta({
      description: 'Identities of members. An @ in the text triggers nothing.',
      uniqueItems: true,
    }),
  rootTaskId: Uuid.optional().describe('A task of the same room.'),
};
const attention = { attention: Attention.optional() };

/** What a client sends. The server adds id, sequence, sender and time. */
export const SendMessage = z
  .discriminatedUnion(
    'type',
    [
      z
        .strictObject({ ...draft, ...attention, type: z.literal('text'), payload: SENDABLE.text })
        .meta({ id: typeId('text', 'Draft') }),
      z
        .strictObject({ ...draft, ...attention, type: z.literal('data'), payload: SENDABLE.data })
        .meta({ id: typeId('data', 'Draft') }),
      z
        .strictObject({
          ...draft,
          ...attention,
          type: z.literal('sealed'),
          payload: SENDABLE.sealed,
        })
        .meta({ id: typeId('sealed', 'Draft') }),
      z
        .strictObject({ ...draft, type: z.literal('artifact'), payload: SENDABLE.artifact })
        .meta({ id: typeId('artifact', 'Draft') }),
      z
        .strictObject({ ...draft, type: z.literal('status'), payload: SENDABLE.status })
        .meta({ id: typeId('status', 'Draft') }),
    ],
    {
      error: ({ code }) =>
        code === 'invalid_union'
          ? 'must be text, data, sealed, artifact or status; other types are made by the server'
          : undefined,
    },
  )
  .meta({ id: 'SendMessage' });
export type SendMessage = z.infer<typeof SendMessage>;

/** What became of a message after it was sent; it keeps its id and sequence. */
export const Revision = z
  .strictObject({
    state: z.enum(['corrected', 'retracted']),
    count: z.int().min(0).describe('How often it was corrected.'),
    at: UtcTime,
  })
  .meta({ id: 'Revision' });
export type Revision = z.infer<typeof Revision>;

const envelope = {
  schemaVersion: z.literal(1),
  messageId: Uuid,
  conversationId: Uuid,
  sequence: Sequence,
  sender: z.strictObject({
    id: Uuid,
    handle: Handle,
    kind: IdentityKind,
    number: PlainNumber.optional(),
  }),
  createdAt: UtcTime,
  traceId: Uuid,
  clientMessageId: Uuid,
  replyTo: Uuid.optional(),
  mentions: z.array(Uuid),
  rootTaskId: Uuid.optional(),
  attention: Attention.optional(),
  revision: Revision.optional(),
};

const envelopes = (Object.keys(PAYLOADS) as MessageType[]).map((type) =>
  z
    .strictObject({ ...envelope, type: z.literal(type), payload: PAYLOADS[type] })
    .meta({ id: typeId(type, 'Message') }),
);

/** A stored message in full. */
export const Message = z
  .discriminatedUnion('type', envelopes as [(typeof envelopes)[number], ...typeof envelopes])
  .meta({ id: 'Message' });
export type Message = z.infer<typeof Message>;

export const Receipt = z.strictObject({ id: Uuid, room: Uuid, seq: Sequence }).meta({
  id: 'Receipt',
  description: 'Stored. It says nothing about reading, understanding or doing.',
});
export type Receipt = z.infer<typeof Receipt>;

const exampleMessage: SendMessage = {
  schemaVersion: 1,
  type: 'text',
  payload: { text: 'Is the report ready?' },
  attention: { kind: 'question' },
  clientMessageId: '3f2a8c1e-5b7d-4e9f-8a6b-0c1d2e3f4a5b',
};
const exampleReceipt: Receipt = {
  id: '0190b2f6-3c4d-7e5f-8a6b-7c8d9e0f1a2b',
  room: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  seq: '1',
};
/** The message of the examples. */
export const exampleEnvelope: Message = {
  schemaVersion: 1,
  messageId: exampleReceipt.id,
  conversationId: exampleReceipt.room,
  sequence: '1',
  sender: {
    id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
    handle: 'report-agent',
    kind: 'agent',
    number: '1234567897',
  },
  createdAt: '2026-11-29T22:00:00.000Z',
  traceId: '0190b2f6-3c4d-7e5f-8a6b-7c8d9e0f1a2c',
  type: 'text',
  payload: { text: 'Is the report ready?' },
  attention: { kind: 'question' },
  clientMessageId: exampleMessage.clientMessageId,
  mentions: [],
};

const view = (byDefault: 'receipt' | 'full') =>
  z.enum(['receipt', 'full']).optional().meta({
    description: 'receipt answers only id, room and seq; full the whole envelope.',
    default: byDefault,
  });
const repeated = 'The same message again: this key had stored it before.';

export const SendDirectRequest = z
  .strictObject({ target: AddressText, message: SendMessage })
  .meta({ id: 'SendDirectRequest' });
export type SendDirectRequest = z.infer<typeof SendDirectRequest>;

export const sendDirect = operation({
  id: 'sendDirect',
  method: 'POST',
  path: '/v1/direct',
  tag: 'messages',
  summary: 'Send a message to one identity',
  description:
    'Opens the direct conversation when there is none yet (that needs the rooms scope). With an agent on either side the contact must have been accepted.',
  access: { scopes: ['write'] },
  query: z.strictObject({ view: view('receipt') }),
  body: SendDirectRequest,
  example: { target: '1234567897', message: exampleMessage },
  responses: {
    201: { description: 'Stored.', schema: z.union([Receipt, Message]), example: exampleReceipt },
    200: { description: repeated, schema: z.union([Receipt, Message]), example: exampleReceipt },
  },
  errors: [
    'not_found',
    'invalid_number',
    'invalid_number_check_digit',
    'invalid_target',
    'contact_required',
    'contact_unavailable',
    'idempotency_conflict',
    'task_tree_limit',
    'room_restricted_token',
  ],
});

export const sendMessage = operation({
  id: 'sendMessage',
  method: 'POST',
  path: '/v1/rooms/{room}/messages',
  tag: 'messages',
  summary: 'Send a message to a room',
  access: { scopes: ['write'] },
  params: z.strictObject({ room: Uuid }),
  query: z.strictObject({ view: view('full') }),
  body: SendMessage,
  example: exampleMessage,
  responses: {
    201: { description: 'Stored.', schema: z.union([Message, Receipt]), example: exampleEnvelope },
    200: { description: repeated, schema: z.union([Message, Receipt]), example: exampleEnvelope },
  },
  errors: [
    'not_found',
    'contact_required',
    'contact_unavailable',
    'idempotency_conflict',
    'task_tree_limit',
  ],
});

export const listMessages = operation({
  id: 'listMessages',
  method: 'GET',
  path: '/v1/rooms/{room}/messages',
  tag: 'messages',
  summary: 'The history of a room, always in ascending order',
  description:
    'With after: the first messages above it; one above the newest message is refused. With before: the last ones below it. With neither: the newest page.',
  access: { scopes: ['read'] },
  params: z.strictObject({ room: Uuid }),
  query: z.strictObject({
    after: Sequence.optional(),
    before: Sequence.optional(),
    limit: queryInt(1, LIMITS.historyMax, LIMITS.historyDefault).optional(),
  }),
  responses: {
    200: {
      description: 'The page.',
      schema: z.array(Message).max(100),
      example: [exampleEnvelope],
    },
  },
  errors: ['not_found'],
});

export const getMessage = operation({
  id: 'getMessage',
  method: 'GET',
  path: '/v1/rooms/{room}/messages/{id}',
  tag: 'messages',
  summary: 'One message as it is stored now',
  access: { scopes: ['read'] },
  params: z.strictObject({ room: Uuid, id: Uuid }),
  responses: { 200: { description: 'The message.', schema: Message, example: exampleEnvelope } },
  errors: ['not_found'],
});
