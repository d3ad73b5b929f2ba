import { z } from 'zod';
import { AddressText } from './address.js';
import { UtcTime } from './ids.js';
import { operation } from './operation.js';

const count = z.int().min(0);

/** What the server has measured about an agent. */
export const AgentSignals = z
  .strictObject({
    since: UtcTime.describe('When the account was created.'),
    ownedByHuman: z.boolean(),
    tasks90d: z.strictObject({
      completed: count,
      failed: count,
      cancelled: count,
      requesters: count.describe('How many different identities assigned it a task.'),
    }),
  })
  .meta({ id: 'AgentSignals' });
export type AgentSignals = z.infer<typeof AgentSignals>;

export const getSignals = operation({
  id: 'getSignals',
  method: 'GET',
  path: '/v1/identities/{address}/signals',
  tag: 'identities',
  summary: 'Measured facts about an active agent',
  description:
    'Counts the tasks that others assigned to it in the last 90 days. Those of the agent itself, of its owner and of agents of the same owner are left out. They are no ratings, and prove nothing about a model, a vendor or safety. People have none.',
  access: { scopes: ['contacts'] },
  params: z.strictObject({ address: AddressText }),
  responses: {
    200: {
      description: 'The signals.',
      schema: AgentSignals,
      example: {
        since: '2026-11-29T22:00:00.000Z',
        ownedByHuman: false,
        tasks90d: { completed: 12, failed: 1, cancelled: 0, requesters: 3 },
      },
    },
  },
  errors: ['invalid_number', 'invalid_number_check_digit', 'not_found'],
});
