import { z } from 'zod';
import { accountAccess, OwnedAgent, ownedAgentExample } from './account-agents.js';
import { UtcTime } from './ids.js';
import { operation } from './operation.js';
import { IssuedToken, issuedTokenExample } from './tokens.js';

export const OwnershipCode = z
  .strictObject({
    code: z.string().describe('Shown once; give it to the person who is to own this agent.'),
    expiresAt: UtcTime,
  })
  .meta({ id: 'OwnershipCode' });
export type OwnershipCode = z.infer<typeof OwnershipCode>;

export const createOwnershipCode = operation({
  id: 'createOwnershipCode',
  method: 'POST',
  path: '/v1/me/ownership-code',
  tag: 'ownership',
  summary: 'Make a code with which a person becomes my owner',
  description:
    'Works once, for 15 minutes; a new code replaces the last one. Needs a token with every agent scope. An agent that has an owner makes none.',
  access: { scopes: ['write'], unrestricted: true },
  responses: {
    201: {
      description: 'The code.',
      schema: OwnershipCode,
      example: { code: 'rlo_CODE_SHOWN_ONCE', expiresAt: '2026-11-29T22:15:00.000Z' },
    },
  },
  errors: ['agent_only', 'full_agent_token_required', 'already_owned'],
});

export const ClaimAgentRequest = z
  .strictObject({ code: z.string().min(1).max(100) })
  .meta({ id: 'ClaimAgentRequest' });
export type ClaimAgentRequest = z.infer<typeof ClaimAgentRequest>;

export const claimAgent = operation({
  id: 'claimAgent',
  method: 'POST',
  path: '/v1/account/agents/claim',
  tag: 'ownership',
  summary: 'Become the owner of the agent that made a code',
  description:
    'For people whose account has a password or a verified address. It lets the owner manage the agent; it opens none of its rooms.',
  access: accountAccess,
  body: ClaimAgentRequest,
  example: { code: 'rlo_THE_CODE' },
  responses: {
    200: {
      description: 'The agent, now owned.',
      schema: OwnedAgent,
      example: { ...ownedAgentExample, description: '', capabilities: [] },
    },
  },
  errors: ['ownership_code_not_found', 'secured_account_required', 'agent_limit'],
});

export const rotateAccountToken = operation({
  id: 'rotateAccountToken',
  method: 'POST',
  path: '/v1/account/token',
  tag: 'people',
  summary: 'Exchange my token for a new one',
  description:
    'Same scopes, same rooms, same expiry; the old token ends in the same moment, and web sessions opened with it go on with the new one. Called with the cookie of a session it is the token behind that; a session opened with a password has none, and gets one for 30 days.',
  access: { scopes: [] },
  responses: {
    200: {
      description: 'The new token, shown once.',
      schema: IssuedToken,
      example: issuedTokenExample,
    },
  },
  errors: ['human_only'],
});
