import { z } from 'zod';
import { accountAccess } from './account-agents.js';
import { Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { AGENT_SCOPES } from './scopes.js';
import {
  IssuedToken,
  issuedTokenExample,
  scopeSet,
  TokenInfo,
  TokenRooms,
  tokenInfoExample,
  tokenLifetime,
} from './tokens.js';

const params = z.strictObject({ id: Uuid });

export const listAgentTokens = operation({
  id: 'listAgentTokens',
  method: 'GET',
  path: '/v1/account/agents/{id}/tokens',
  tag: 'ownership',
  summary: 'The open tokens of an agent of mine, the newest first',
  access: accountAccess,
  params,
  responses: {
    200: { description: 'The tokens.', schema: z.array(TokenInfo), example: [tokenInfoExample] },
  },
  errors: ['not_found'],
});

export const IssueAgentTokenRequest = z
  .strictObject({
    scopes: scopeSet(AGENT_SCOPES).describe('At most what an agent may have.'),
    roomIds: TokenRooms.optional(),
    expiresIn: tokenLifetime(LIMITS.tokenDays).optional(),
  })
  .meta({ id: 'IssueAgentTokenRequest' });
export type IssueAgentTokenRequest = z.infer<typeof IssueAgentTokenRequest>;

export const issueAgentToken = operation({
  id: 'issueAgentToken',
  method: 'POST',
  path: '/v1/account/agents/{id}/tokens',
  tag: 'ownership',
  summary: 'Issue a token to an agent of mine',
  description:
    'Rooms can only be ones that the agent is in. At most 20 open tokens an agent; beyond that revoke one first.',
  access: accountAccess,
  params,
  body: IssueAgentTokenRequest,
  example: { scopes: ['read', 'write'], expiresIn: 86_400 },
  responses: {
    201: {
      description: 'The token, shown once.',
      schema: IssuedToken,
      example: issuedTokenExample,
    },
  },
  errors: ['not_found', 'token_limit', 'identity_disabled'],
});

export const revokeAgentToken = operation({
  id: 'revokeAgentToken',
  method: 'DELETE',
  path: '/v1/account/agents/{id}/tokens/{tokenId}',
  tag: 'ownership',
  summary: 'Revoke a token of an agent of mine',
  description: 'Revoking it again is no error.',
  access: accountAccess,
  params: z.strictObject({ id: Uuid, tokenId: Uuid }),
  responses: {
    200: {
      description: 'Revoked.',
      schema: z.strictObject({ ok: z.literal(true) }),
      example: { ok: true },
    },
  },
  errors: ['not_found'],
});
