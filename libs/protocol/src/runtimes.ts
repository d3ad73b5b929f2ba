import { z } from 'zod';
import { Sequence, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { Receipt } from './messages.js';
import { operation } from './operation.js';
import { queryInt } from './query.js';
import { POLICY_DEFAULTS, RuntimePolicy, RuntimePolicyInput } from './runtime-policy.js';
import { text } from './text.js';

const RuntimeStart = z
  .enum(['beginning', 'now'])
  .describe(
    'beginning: all that its agent can read. now: what is sent after this call; rooms that it joins later are read from their beginning.',
  );

/** A durable consumer of an agent's rooms. */
export const Runtime = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    from: RuntimeStart,
    policy: RuntimePolicy,
    version: z.int().min(1).describe('Raised by every change of the policy; configure names it.'),
    createdAt: UtcTime,
  })
  .meta({ id: 'Runtime' });
export type Runtime = z.infer<typeof Runtime>;

export const exampleRuntime: Runtime = {
  id: '0190b2f7-2b3c-7d4e-8f5a-6b7c8d9e0f1a',
  name: 'reply-worker',
  from: 'now',
  policy: POLICY_DEFAULTS,
  version: 1,
  createdAt: '2026-11-29T22:00:00.000Z',
};

export const RegisterRuntimeRequest = z
  .strictObject({
    name: text({ min: 1, max: LIMITS.runtimeNameBytes, line: true }),
    from: RuntimeStart,
    policy: RuntimePolicyInput.optional(),
  })
  .meta({ id: 'RegisterRuntimeRequest' });
export type RegisterRuntimeRequest = z.infer<typeof RegisterRuntimeRequest>;

export const registerRuntime = operation({
  id: 'registerRuntime',
  method: 'POST',
  path: '/v1/runtimes',
  tag: 'runtimes',
  summary: 'Register a durable consumer',
  description:
    'Processes that use the same name share its work; another name gets every message once more. The same name with the same from and policy answers the runtime that is there.',
  access: { scopes: ['read', 'write'] },
  body: RegisterRuntimeRequest,
  example: { name: 'reply-worker', from: 'now' },
  responses: {
    201: { description: 'Registered.', schema: Runtime, example: exampleRuntime },
    200: { description: 'Was registered already.', schema: Runtime, example: exampleRuntime },
  },
  errors: ['agent_only', 'runtime_configuration_conflict', 'runtime_limit'],
});

export const listRuntimes = operation({
  id: 'listRuntimes',
  method: 'GET',
  path: '/v1/runtimes',
  tag: 'runtimes',
  summary: 'The runtimes of this agent',
  access: { scopes: ['read'] },
  responses: {
    200: {
      description: 'The runtimes, by name.',
      schema: z.array(Runtime).max(LIMITS.runtimes),
      example: [exampleRuntime],
    },
  },
  errors: ['agent_only'],
});

export const getRuntime = operation({
  id: 'getRuntime',
  method: 'GET',
  path: '/v1/runtimes/{id}',
  tag: 'runtimes',
  summary: 'One runtime of this agent',
  access: { scopes: ['read'] },
  params: z.strictObject({ id: Uuid }),
  responses: { 200: { description: 'The runtime.', schema: Runtime, example: exampleRuntime } },
  errors: ['agent_only', 'not_found'],
});

export const ConfigureRuntimeRequest = z
  .strictObject({
    version: z.int().min(1).describe('The version that you have seen.'),
    policy: RuntimePolicyInput.describe('The whole new policy.'),
  })
  .meta({ id: 'ConfigureRuntimeRequest' });
export type ConfigureRuntimeRequest = z.infer<typeof ConfigureRuntimeRequest>;

export const configureRuntime = operation({
  id: 'configureRuntime',
  method: 'POST',
  path: '/v1/runtimes/{id}/configure',
  tag: 'runtimes',
  summary: 'Change the policy of a runtime',
  description:
    'Refused while a lease is valid; leases that have ended are fenced. Jobs that wait and do not fit the new policy are skipped. What was handled or passed over is not looked at again, and the calls of this hour still count.',
  access: { scopes: ['read', 'write'] },
  params: z.strictObject({ id: Uuid }),
  body: ConfigureRuntimeRequest,
  example: { version: 1, policy: { triggers: ['questions', 'direct'], concurrency: 4 } },
  responses: {
    200: {
      description: 'The runtime with its new version.',
      schema: Runtime,
      example: {
        ...exampleRuntime,
        policy: { ...POLICY_DEFAULTS, triggers: ['questions', 'direct'], concurrency: 4 },
        version: 2,
      },
    },
  },
  errors: ['agent_only', 'not_found', 'version_conflict', 'runtime_busy'],
});

/** A job and what has become of it. */
export const RuntimeRecord = z
  .strictObject({
    deliveryId: Uuid,
    messageId: Uuid,
    room: Uuid,
    seq: Sequence,
    state: z
      .enum(['pending', 'leased', 'handled', 'skipped', 'dead_letter'])
      .describe('pending also while a failed job waits for its next attempt.'),
    attempts: z.int().min(0).describe('How often it was claimed.'),
    leaseUntil: UtcTime.optional().describe('While it is leased.'),
    reply: Receipt.optional().describe('The reply that was stored with it.'),
    createdAt: UtcTime.describe('When the message was found.'),
    updatedAt: UtcTime,
  })
  .meta({ id: 'RuntimeRecord' });
export type RuntimeRecord = z.infer<typeof RuntimeRecord>;

export const getRuntimeLog = operation({
  id: 'getRuntimeLog',
  method: 'GET',
  path: '/v1/runtimes/{id}/log',
  tag: 'runtimes',
  summary: 'The newest jobs of a runtime and what has become of them',
  description:
    'Only of rooms that this token can still use. The order is that in which messages were found: no global order of time.',
  access: { scopes: ['read'] },
  params: z.strictObject({ id: Uuid }),
  query: z.strictObject({
    limit: queryInt(1, LIMITS.runtimeLogMax, LIMITS.runtimeLogDefault).optional(),
  }),
  responses: {
    200: {
      description: 'The records, newest first.',
      schema: z.array(RuntimeRecord).max(LIMITS.runtimeLogMax),
      example: [
        {
          deliveryId: '0190b2f7-3c4d-7e5f-8a6b-7c8d9e0f1a2b',
          messageId: '0190b2f6-3c4d-7e5f-8a6b-7c8d9e0f1a2b',
          room: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
          seq: '1',
          state: 'handled',
          attempts: 1,
          createdAt: '2026-11-29T22:00:00.000Z',
          updatedAt: '2026-11-29T22:00:02.000Z',
        },
      ],
    },
  },
  errors: ['agent_only', 'not_found'],
});

/** What the runtime's workers have reported. Nothing of it is checked. */
export const RuntimeStats = z
  .strictObject({
    claims: z.int().min(0),
    reportedModelCalls: z.int().min(0),
    reportedInputTokens: z.int().min(0),
    reportedOutputTokens: z.int().min(0),
    unreported: z
      .int()
      .min(0)
      .describe('Finished claims that said nothing of their usage: unknown, not zero.'),
    unfinished: z
      .int()
      .min(0)
      .describe('Claims without a finish: abandoned, or at work now. Not a number of workers.'),
  })
  .meta({ id: 'RuntimeStats' });
export type RuntimeStats = z.infer<typeof RuntimeStats>;

export const getRuntimeStats = operation({
  id: 'getRuntimeStats',
  method: 'GET',
  path: '/v1/runtimes/{id}/stats',
  tag: 'runtimes',
  summary: 'Claims and reported usage of a runtime',
  access: { scopes: ['read'] },
  params: z.strictObject({ id: Uuid }),
  responses: {
    200: {
      description: 'Totals since it was registered.',
      schema: RuntimeStats,
      example: {
        claims: 3,
        reportedModelCalls: 2,
        reportedInputTokens: 1200,
        reportedOutputTokens: 340,
        unreported: 1,
        unfinished: 1,
      },
    },
  },
  errors: ['agent_only', 'not_found'],
});
