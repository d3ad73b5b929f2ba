import { z } from 'zod';
import { Sequence, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { Message } from './messages.js';
import { operation } from './operation.js';
import { queryInt } from './query.js';

/** A page of a reply chain, small enough to be read as context. */
export const Thread = z
  .strictObject({
    root: Message.describe('The first message of the reply chain, on every page.'),
    messages: z
      .array(Message)
      .max(LIMITS.threadMax)
      .describe('What replies to it, directly or not, by ascending sequence; never the root.'),
    next: Sequence.nullable().describe(
      'The sequence of the last message here when more follow: the next after. Otherwise null.',
    ),
  })
  .meta({ id: 'Thread' });
export type Thread = z.infer<typeof Thread>;

const sender = {
  id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  handle: 'report-agent',
  kind: 'agent',
  number: '1234567897',
} as const;
const conversationId = '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f';
const example: Thread = {
  root: {
    schemaVersion: 1,
    messageId: '0190b2f6-3c4d-7e5f-8a6b-7c8d9e0f1a2b',
    conversationId,
    sequence: '1',
    sender,
    createdAt: '2026-11-29T22:00:00.000Z',
    traceId: '0190b2f6-3c4d-7e5f-8a6b-7c8d9e0f1a2c',
    type: 'text',
    payload: { text: 'Is the report ready?' },
    clientMessageId: '3f2a8c1e-5b7d-4e9f-8a6b-0c1d2e3f4a5b',
    mentions: [],
    attention: { kind: 'question' },
  },
  messages: [
    {
      schemaVersion: 1,
      messageId: '0190b2f7-4d5e-7f6a-8b7c-9d0e1f2a3b4c',
      conversationId,
      sequence: '3',
      sender,
      createdAt: '2026-11-29T22:05:00.000Z',
      traceId: '0190b2f7-4d5e-7f6a-8b7c-9d0e1f2a3b4d',
      type: 'text',
      payload: { text: 'It is.' },
      clientMessageId: '7a6b5c4d-3e2f-4a1b-9c8d-0e1f2a3b4c5d',
      replyTo: '0190b2f6-3c4d-7e5f-8a6b-7c8d9e0f1a2b',
      mentions: [],
    },
  ],
  next: null,
};

export const getThread = operation({
  id: 'getThread',
  method: 'GET',
  path: '/v1/rooms/{room}/threads/{id}',
  tag: 'messages',
  summary: 'The reply chain of a message, in pages of few bytes',
  description:
    'Any message of the chain names it; what replies to something else is not in it. maxBytes is for the whole body of the reply, the root included, as UTF-8 with its JSON escapes. A page ends before the message that does not fit; when it would hold none for that reason, the answer is context_item_too_large. Then ask again with the bytes that it names, or read that message by its id and go on with its sequence as after. An after above the newest message finds nothing.',
  access: { scopes: ['read'] },
  params: z.strictObject({ room: Uuid, id: Uuid.describe('Any message of the chain.') }),
  query: z.strictObject({
    after: Sequence.optional()
      .describe('Only messages with a higher sequence of the room.')
      .meta({ default: '0' }),
    limit: queryInt(1, LIMITS.threadMax, LIMITS.threadDefault).optional(),
    maxBytes: queryInt(
      LIMITS.threadBytesMin,
      LIMITS.threadBytesMax,
      LIMITS.threadBytesDefault,
    ).optional(),
  }),
  responses: { 200: { description: 'The page.', schema: Thread, example } },
  errors: ['not_found', 'context_item_too_large'],
});
