import { z } from 'zod';
import { Sequence, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { jsonObject, text } from './text.js';

/** Name a receiver dispatches on: `invoice.v1`. The server never checks data against it. */
export const SchemaName = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)*$/, 'must be a name such as invoice.v1')
  .meta({ id: 'SchemaName', examples: ['invoice.v1'] });

/** The last character of base64url text holds unused bits, which must be 0 (RFC 4648 section 3.5): one spelling a value. */
const LAST = ['[A-Za-z0-9_-]', '[AQgw]', '[AEIMQUYcgkosw048]'] as const;

/** base64url without padding of exactly so many bytes (RFC 4648 section 5). */
export function base64urlOf(bytes: number) {
  const length = Math.ceil((bytes * 4) / 3);
  return z
    .string()
    .regex(
      new RegExp(`^[A-Za-z0-9_-]{${length - 1}}${LAST[bytes % 3]}$`),
      `must be ${bytes} bytes as base64url without padding`,
    )
    .describe(`${bytes} bytes as base64url without padding.`);
}

export const TextPayload = z
  .strictObject({
    text: text({ min: 1, max: LIMITS.textBytes }),
    attachments: z
      .array(Uuid)
      .min(1)
      .max(LIMITS.attachments)
      .refine((ids) => new Set(ids).size === ids.length, 'must not repeat a file')
      .optional()
      .meta({ description: 'Files of the same room.', uniqueItems: true }),
  })
  .meta({ id: 'TextPayload' });

export const DataPayload = z
  .strictObject({
    schema: SchemaName,
    data: jsonObject(LIMITS.dataBytes),
    text: text({ min: 1, max: LIMITS.dataSummaryBytes })
      .optional()
      .describe('A summary; the only part that search sees.'),
  })
  .meta({ id: 'DataPayload' });

/** End-to-end encrypted content; the server checks shape and sizes only. */
export const SealedPayload = z
  .strictObject({
    alg: z.literal('relayger-e2ee-v1'),
    ephemeralKey: base64urlOf(32),
    nonce: base64urlOf(12),
    ciphertext: z
      .string()
      .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url without padding')
      .refine((value) => value.length % 4 !== 1, 'must be base64url without padding')
      .refine((value) => Math.floor((value.length * 3) / 4) <= LIMITS.sealedCiphertextBytes, {
        error: `must have at most ${LIMITS.sealedCiphertextBytes} decoded bytes`,
      })
      .meta({
        description: `base64url without padding of at most ${LIMITS.sealedCiphertextBytes} bytes.`,
        maxLength: Math.floor((LIMITS.sealedCiphertextBytes * 4 + 2) / 3),
      }),
    recipients: z
      .array(
        z.strictObject({
          id: Uuid,
          keyId: Uuid,
          nonce: base64urlOf(12),
          wrappedKey: base64urlOf(48),
        }),
      )
      .min(1)
      .max(LIMITS.sealedRecipients)
      .refine(
        (all) => new Set(all.map(({ id }) => id)).size === all.length,
        'must not repeat an identity',
      ),
  })
  .meta({ id: 'SealedPayload' });

export const ArtifactPayload = z
  .strictObject({ fileId: Uuid, caption: text({ max: LIMITS.dataSummaryBytes }) })
  .meta({ id: 'ArtifactPayload' });

export const PresenceState = z
  .enum(['online', 'idle', 'working', 'waiting', 'offline'])
  .meta({ id: 'PresenceState' });
export type PresenceState = z.infer<typeof PresenceState>;

export const StatusPayload = z.strictObject({ state: PresenceState }).meta({ id: 'StatusPayload' });

/** Payloads of events that only the server makes. */
const TaskPayload = z
  .strictObject({ taskId: Uuid, summary: z.string() })
  .meta({ id: 'TaskPayload' });
const ResultPayload = z
  .strictObject({ taskId: Uuid, text: z.string() })
  .meta({ id: 'ResultPayload' });
const ApprovalPayload = z.strictObject({ approvalId: Uuid }).meta({ id: 'ApprovalPayload' });
const RevisionPayload = z
  .strictObject({
    messageId: Uuid,
    sequence: Sequence,
    action: z.enum(['correct', 'retract']),
    payload: z.union([TextPayload, DataPayload]).optional(),
  })
  .meta({ id: 'RevisionPayload' });
const ProgressPayload = z
  .strictObject({
    taskId: Uuid,
    percent: z.number().min(0).max(100).optional(),
    note: z.string().optional(),
  })
  .meta({ id: 'ProgressPayload' });

/** Types that a client may send, with their payloads. */
export const SENDABLE = {
  text: TextPayload,
  data: DataPayload,
  sealed: SealedPayload,
  artifact: ArtifactPayload,
  status: StatusPayload,
} as const;

/** Every type that a room can hold, with its payload. */
export const PAYLOADS = {
  ...SENDABLE,
  task: TaskPayload,
  result: ResultPayload,
  approval_request: ApprovalPayload,
  approval_decision: ApprovalPayload,
  revision: RevisionPayload,
  progress: ProgressPayload,
} as const;

export type MessageType = keyof typeof PAYLOADS;

/** Component name of one variant: `approval_request`, `Message` → `ApprovalRequestMessage`. */
export function typeId(type: MessageType, suffix: string): string {
  return type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase()) + suffix;
}

/** Live information: never pending in a mailbox. */
export const LIVE_TYPES = ['status', 'progress'] as const satisfies MessageType[];
