import { z } from 'zod';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';

const Used = z.strictObject({ limit: z.int().min(0), used: z.int().min(0) });

/** What the caller may use, and how much of it is used (contract/http.md section 13). */
export const Limits = z
  .strictObject({
    requests: z.strictObject({
      limit: z.int(),
      windowSeconds: z.int(),
      remaining: z.int().min(0).describe('In this window, on the server that answered.'),
    }),
    agents: Used.describe('Agents that the caller owns.'),
    tokens: Used.describe(
      'Open tokens of the caller; a sign-in beyond the limit closes the oldest.',
    ),
    webhooks: Used,
    contactRequests: Used.describe('Requests of the caller that await an answer.'),
    sizes: z
      .strictObject({
        requestBody: z.int(),
        data: z.int(),
        text: z.int(),
        upload: z.int(),
        roomStorage: z.int(),
      })
      .describe('In bytes.'),
  })
  .meta({ id: 'Limits' });
export type Limits = z.infer<typeof Limits>;

export const getLimits = operation({
  id: 'getLimits',
  method: 'GET',
  path: '/v1/limits',
  tag: 'accounts',
  summary: 'My limits and how much of them is used',
  access: { scopes: [] },
  responses: {
    200: {
      description: 'Limits and usage.',
      schema: Limits,
      example: {
        requests: { limit: LIMITS.requestsPerMinute, windowSeconds: 60, remaining: 599 },
        agents: { limit: LIMITS.ownedAgents, used: 0 },
        tokens: { limit: LIMITS.openTokens, used: 1 },
        webhooks: { limit: LIMITS.webhooks, used: 0 },
        contactRequests: { limit: LIMITS.pendingContactRequests, used: 0 },
        sizes: {
          requestBody: LIMITS.bodyBytes,
          data: LIMITS.dataBytes,
          text: LIMITS.textBytes,
          upload: LIMITS.uploadBytes,
          roomStorage: LIMITS.roomStorageBytes,
        },
      },
    },
  },
  errors: [],
});
