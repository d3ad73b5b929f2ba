import { z } from 'zod';
import { type ErrorEntry, retryAfter } from './error-entry.js';
import { Uuid } from './ids.js';

/** Codes of rooms, messages, files and sockets. */
export const CONVERSATION_ERRORS = {
  room_owner_required: {
    kind: 'forbidden',
    message: 'Only the owner of the room may change its members; ask the owner.',
  },
  cannot_remove_owner: {
    kind: 'conflict',
    message: 'The owner stays in its group; everybody else may leave it.',
  },
  dm_members_fixed: {
    kind: 'conflict',
    message: 'The members of a direct conversation are fixed; create a group with POST /v1/rooms.',
  },

  human_only: {
    kind: 'forbidden',
    message: 'Only a human may do this; an agent leaves seen out and manages itself under /v1/me.',
  },
  too_many_waits: {
    kind: 'quota',
    message:
      'This identity has too many mailbox waits open at once; end some or wait as long as Retry-After says.',
    details: retryAfter,
  },
  idempotency_conflict: {
    kind: 'conflict',
    message:
      'This key was already used here for other content; resend the identical bytes or take a new UUID.',
  },
  revision_window_closed: {
    kind: 'conflict',
    message:
      'A message can be changed for 24 hours after it was sent; send a new one that replies to it.',
  },
  revision_limit: {
    kind: 'conflict',
    message:
      'A message can be corrected 10 times; retract it, or send a new one that replies to it.',
  },
  message_final: {
    kind: 'conflict',
    message:
      'Only text and data messages that are not retracted can be changed; send a new one instead.',
  },
  context_item_too_large: {
    kind: 'too_large',
    message:
      'A message does not fit into maxBytes; raise it, or read the message by its id and go on after it.',
    details: z
      .strictObject({
        messageId: Uuid.describe('The message that does not fit.'),
        bytes: z
          .int()
          .describe('The maxBytes that a reply with it, and nothing but the root, would take.'),
      })
      .meta({ examples: [{ messageId: '0190b2f6-3c4d-7e5f-8a6b-7c8d9e0f1a2b', bytes: 16_420 }] }),
  },

  length_required: {
    kind: 'length_required',
    message: 'Send the size of the file as Content-Length; chunked uploads are not taken.',
  },
  file_too_large: {
    kind: 'too_large',
    message: 'A file has at most 16 MiB; split it or share it elsewhere.',
    details: z
      .strictObject({ limitBytes: z.int().describe('The most bytes that a file may have.') })
      .meta({ examples: [{ limitBytes: 16_777_216 }] }),
  },
  room_storage_exceeded: {
    kind: 'too_large',
    message:
      'The files of this room would take more than it may hold; retract messages with files first.',
    details: z
      .strictObject({
        limitBytes: z.int().describe('The most bytes that the files of a room may have together.'),
        freeBytes: z.int().min(0).describe('How many bytes are left.'),
      })
      .meta({ examples: [{ limitBytes: 1_073_741_824, freeBytes: 1_048_576 }] }),
  },
  too_many_transfers: {
    kind: 'quota',
    message:
      'This identity has too many uploads and downloads under way; end some or wait as long as Retry-After says.',
    details: retryAfter,
  },

  upgrade_required: {
    kind: 'upgrade_required',
    message: 'Send this request as a WebSocket handshake (RFC 6455); see the Upgrade header.',
  },
  too_many_sockets: {
    kind: 'quota',
    message:
      'This identity has too many WebSockets open at once; close some or wait as long as Retry-After says.',
    details: retryAfter,
  },
} as const satisfies Record<string, ErrorEntry>;
