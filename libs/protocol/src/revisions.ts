import { z } from 'zod';
import { Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { Receipt } from './messages.js';
import { operation } from './operation.js';
import { DataPayload, TextPayload } from './payloads.js';

const clientMessageId = Uuid.describe(
  'Your key for retries, of the same room as the keys of messages: the same key with the same bytes is one revision.',
);

/** The new words of a text message; its attachments stay as they are. */
export const TextCorrection = z
  .strictObject({ text: TextPayload.shape.text })
  .meta({ id: 'TextCorrection' });
export type TextCorrection = z.infer<typeof TextCorrection>;

/** Changes one of the caller's own text or data messages, or takes it back. */
export const ReviseMessageRequest = z
  .discriminatedUnion(
    'action',
    [
      z
        .strictObject({
          action: z.literal('correct'),
          clientMessageId,
          payload: z
            .union([TextCorrection, DataPayload], {
              error:
                'must be {text} for a text message, or {schema, data, text?} for a data message, within their limits',
            })
            .describe('For a text message only its text; for a data message the whole payload.'),
        })
        .meta({ id: 'CorrectMessageRequest' }),
      z
        .strictObject({ action: z.literal('retract'), clientMessageId })
        .meta({ id: 'RetractMessageRequest' }),
    ],
    { error: ({ code }) => (code === 'invalid_union' ? 'must be correct or retract' : undefined) },
  )
  .meta({ id: 'ReviseMessageRequest' });
export type ReviseMessageRequest = z.infer<typeof ReviseMessageRequest>;

/** What stands in a text message after its retraction. */
export const RETRACTED = '[retracted]';

const exampleReceipt: Receipt = {
  id: '0190b2f7-0a1b-7c2d-8e3f-4a5b6c7d8e9f',
  room: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  seq: '2',
};

export const reviseMessage = operation({
  id: 'reviseMessage',
  method: 'POST',
  path: '/v1/rooms/{room}/messages/{id}/revise',
  tag: 'messages',
  summary: 'Correct or retract my own message',
  description: `For text and data messages, within ${LIMITS.revisionHours} hours, by whoever sent them; ${LIMITS.corrections} corrections a message. The message keeps its id and sequence and says so under revision; a revision event that replies to it is appended, and is pending for the others. A retraction is final: content, attention, the content of earlier corrections and attached files that nothing else uses are gone. What members have read before is theirs.`,
  access: { scopes: ['write'] },
  params: z.strictObject({ room: Uuid, id: Uuid }),
  body: ReviseMessageRequest,
  example: {
    action: 'correct',
    clientMessageId: '7d1c2b3a-4e5f-4a6b-8c7d-9e0f1a2b3c4d',
    payload: { text: 'Is the September report ready?' },
  },
  responses: {
    201: { description: 'The revision event.', schema: Receipt, example: exampleReceipt },
    200: {
      description: 'The same event again: this key had stored it before.',
      schema: Receipt,
      example: exampleReceipt,
    },
  },
  errors: [
    'not_found',
    'contact_required',
    'contact_unavailable',
    'idempotency_conflict',
    'message_final',
    'revision_window_closed',
    'revision_limit',
  ],
});
