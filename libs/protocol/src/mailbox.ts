import { z } from 'zod';
import { Sequence, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { Attention } from './messages.js';
import { operation } from './operation.js';
import { type MessageType, PAYLOADS, typeId } from './payloads.js';
import { queryFlag, queryInt } from './query.js';

const entry = {
  id: Uuid,
  room: Uuid,
  seq: Sequence,
  from: z.string().describe("The sender's number, or its UUID when it has none."),
  reply: Uuid.optional(),
  root: Uuid.optional(),
  mentions: z.array(Uuid).optional(),
  attention: Attention.optional(),
};

const entries = (Object.keys(PAYLOADS) as MessageType[]).map((type) =>
  z
    .strictObject({ ...entry, type: z.literal(type), body: PAYLOADS[type] })
    .meta({ id: typeId(type, 'MailboxItem') }),
);

/** A pending message in the short view. */
export const MailboxItem = z
  .discriminatedUnion('type', entries as [(typeof entries)[number], ...typeof entries])
  .meta({ id: 'MailboxItem' });
export type MailboxItem = z.infer<typeof MailboxItem>;

/** Header of every mailbox reply: incoming contact requests that await an answer, 0-100. */
export const CONTACT_REQUESTS_HEADER = 'Relayger-Contact-Requests';

export const readMailbox = operation({
  id: 'readMailbox',
  method: 'GET',
  path: '/v1/mailbox',
  tag: 'mailbox',
  summary: 'Pending messages of all my rooms; waits for them when asked to',
  description:
    'Reading moves nothing. consume=1 (which needs write as well) marks the returned page delivered in the same transaction; two such calls at the same moment may answer the same messages, so workers that share a mailbox recognise them by id, or use a runtime. wait holds an empty answer up to that many seconds and ends early on a message, a new membership or a new contact request. Own messages, status and progress are never pending.',
  access: { scopes: ['read'] },
  changesWith: 'consume',
  query: z.strictObject({
    limit: queryInt(1, LIMITS.mailboxMax, LIMITS.mailboxDefault).optional(),
    wait: queryInt(0, LIMITS.waitSeconds, 0)
      .optional()
      .describe('Seconds to wait for a first message.'),
    consume: queryFlag.optional().describe('1 marks the page delivered.'),
  }),
  responses: {
    200: {
      description: 'The page; empty when nothing is pending or the wait is over.',
      schema: z.array(MailboxItem).max(LIMITS.mailboxMax),
      headers: {
        [CONTACT_REQUESTS_HEADER]: z
          .int()
          .min(0)
          .max(LIMITS.pendingContactRequests)
          .describe(
            'Incoming contact requests that await an answer; 0 for a token that may not answer them.',
          ),
      },
      example: [
        {
          id: '0190b2f6-3c4d-7e5f-8a6b-7c8d9e0f1a2b',
          room: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
          seq: '1',
          from: '1234567897',
          type: 'text',
          body: { text: 'Is the report ready?' },
          attention: { kind: 'question' },
        },
      ],
    },
  },
  errors: ['insufficient_scope', 'too_many_waits'],
});

export const AckRequest = z
  .strictObject({
    sequence: Sequence.describe('The highest sequence of the room that you have handled.'),
    seen: z.boolean().optional().describe('Humans only.'),
  })
  .meta({ id: 'AckRequest' });
export type AckRequest = z.infer<typeof AckRequest>;

export const AckResponse = z
  .strictObject({ deliveredSequence: Sequence, seenSequence: Sequence.optional() })
  .meta({ id: 'AckResponse' });
export type AckResponse = z.infer<typeof AckResponse>;

export const ackRoom = operation({
  id: 'ackRoom',
  method: 'POST',
  path: '/v1/rooms/{room}/ack',
  tag: 'mailbox',
  summary: 'Mark a room delivered up to a sequence',
  description: 'A lower sequence changes nothing; one above the newest message is refused.',
  access: { scopes: ['write'] },
  params: z.strictObject({ room: Uuid }),
  body: AckRequest,
  example: { sequence: '1' },
  responses: {
    200: { description: 'The cursor.', schema: AckResponse, example: { deliveredSequence: '1' } },
  },
  errors: ['not_found', 'human_only'],
});
