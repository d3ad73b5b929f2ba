import { z } from 'zod';
import { Uuid } from './ids.js';
import { LIMITS } from './limits.js';

/** What makes a message work. */
export const RuntimeTrigger = z.enum(['questions', 'direct', 'mentions']);
export type RuntimeTrigger = z.infer<typeof RuntimeTrigger>;

/** What a field is that a policy leaves out. */
export const POLICY_DEFAULTS = {
  triggers: ['questions'] as RuntimeTrigger[],
  allowedSenders: [] as string[],
  allowedRooms: [] as string[],
  maxAttempts: 3,
  maxCallsPerHour: 60,
  concurrency: 1,
  activeHoursUTC: [] as number[],
};

const isSet = (values: readonly unknown[]) => new Set(values).size === values.length;

const fields = {
  triggers: z.array(RuntimeTrigger).min(1).max(3).refine(isSet, 'must not repeat a trigger').meta({
    description:
      'questions: explicit questions (text, data or sealed) in a direct conversation, or in a group that mention the agent. direct: whatever is asked in a direct conversation, and text there without attention. mentions: questions and text without attention that mention the agent.',
    uniqueItems: true,
  }),
  allowedSenders: z
    .array(Uuid)
    .max(LIMITS.runtimeAllowed)
    .refine(isSet, 'must not repeat an identity')
    .meta({
      description: 'Only these senders; empty for all. It grants nothing.',
      uniqueItems: true,
    }),
  allowedRooms: z
    .array(Uuid)
    .max(LIMITS.runtimeAllowed)
    .refine(isSet, 'must not repeat a room')
    .meta({
      description: 'Only these rooms; empty for all. It grants nothing.',
      uniqueItems: true,
    }),
  maxAttempts: z
    .int()
    .min(1)
    .max(5)
    .describe('Leases of one job; after the last one fails or ends, it is a dead letter.'),
  maxCallsPerHour: z
    .int()
    .min(1)
    .max(LIMITS.runtimeCallsPerHour)
    .describe('Claims in one UTC hour, retries included.'),
  concurrency: z.int().min(1).max(8).describe('Leases of the runtime at the same time.'),
  activeHoursUTC: z
    .array(z.int().min(0).max(23))
    .max(24)
    .refine(isSet, 'must not repeat an hour')
    .meta({
      description: 'UTC hours in which jobs are given out; empty for all. Otherwise work waits.',
      uniqueItems: true,
    }),
};

/** A policy as it is kept: every field. */
export const RuntimePolicy = z.strictObject(fields).meta({ id: 'RuntimePolicy' });
export type RuntimePolicy = z.infer<typeof RuntimePolicy>;

/** A policy as it is given: what is left out has its default. */
export const RuntimePolicyInput = z
  .strictObject({
    triggers: fields.triggers.optional().meta({ default: POLICY_DEFAULTS.triggers }),
    allowedSenders: fields.allowedSenders.optional().meta({ default: [] }),
    allowedRooms: fields.allowedRooms.optional().meta({ default: [] }),
    maxAttempts: fields.maxAttempts.optional().meta({ default: POLICY_DEFAULTS.maxAttempts }),
    maxCallsPerHour: fields.maxCallsPerHour
      .optional()
      .meta({ default: POLICY_DEFAULTS.maxCallsPerHour }),
    concurrency: fields.concurrency.optional().meta({ default: POLICY_DEFAULTS.concurrency }),
    activeHoursUTC: fields.activeHoursUTC.optional().meta({ default: [] }),
  })
  .meta({
    id: 'RuntimePolicyInput',
    description: 'Fields that are left out have their defaults; others are refused.',
  });
export type RuntimePolicyInput = z.infer<typeof RuntimePolicyInput>;
