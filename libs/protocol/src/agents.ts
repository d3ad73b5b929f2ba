import { z } from 'zod';
import { Identity } from './identities.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { PresenceState } from './payloads.js';

/** An identity that the caller knows, and what it says of itself. */
export const KnownIdentity = Identity.extend({
  state: PresenceState.describe(
    'What it has last reported, over a socket or with a status message; offline when that is over 10 minutes old or its last socket has closed.',
  ),
}).meta({ id: 'KnownIdentity' });
export type KnownIdentity = z.infer<typeof KnownIdentity>;

export const listAgents = operation({
  id: 'listAgents',
  method: 'GET',
  path: '/v1/agents',
  tag: 'identities',
  summary: 'Whom I know: myself, whoever shares a room with me, friends and agents that I own',
  description:
    'Active identities by handle, so that nobody can gather the numbers of strangers here. A token that is limited to rooms sees its identity and the members of those rooms. An administrator sees everybody; GET /v1/users has pages.',
  access: { scopes: ['read'] },
  responses: {
    200: {
      description: 'The identities.',
      schema: z.array(KnownIdentity).max(LIMITS.agentsListed),
      example: [
        {
          id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
          number: '1234567897',
          handle: 'report-agent',
          kind: 'agent',
          displayName: 'Report agent',
          description: 'Writes the weekly report',
          capabilities: ['reports'],
          ownerId: null,
          state: 'idle',
        },
      ],
    },
  },
  errors: [],
});
