import { z } from 'zod';
import { adminAccess, pageLimit, Reason } from './admin-users.js';
import { Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { SCOPES } from './scopes.js';
import {
  IssuedToken,
  issuedTokenExample,
  scopeSet,
  TokenInfo,
  TokenRooms,
  tokenInfoExample,
  tokenLifetime,
} from './tokens.js';

const identityId = Uuid.describe('Whose token it is.');

/** An open token of any identity, as an administrator sees it. */
export const AdminToken = TokenInfo.extend({ identityId }).meta({
  id: 'AdminToken',
  description: 'An open token. Neither the token nor its hash is in it.',
});
export type AdminToken = z.infer<typeof AdminToken>;

export const AdminTokenPage = z
  .strictObject({
    items: z.array(AdminToken).max(LIMITS.adminPageMax),
    next: Uuid.nullable().describe('Give it as before for the next page; null on the last one.'),
  })
  .meta({ id: 'AdminTokenPage' });
export type AdminTokenPage = z.infer<typeof AdminTokenPage>;

const item: AdminToken = {
  ...tokenInfoExample,
  identityId: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
};

export const listTokens = operation({
  id: 'listTokens',
  method: 'GET',
  path: '/v1/tokens',
  tag: 'admin',
  summary: 'The open tokens of this server, the newest first',
  access: adminAccess,
  query: z.strictObject({
    identityId: identityId.optional(),
    before: Uuid.optional().describe('The id that the page before ended with.'),
    limit: pageLimit,
  }),
  responses: {
    200: { description: 'A page.', schema: AdminTokenPage, example: { items: [item], next: null } },
  },
  errors: ['admin_role_required'],
});

export const IssueTokenRequest = z
  .strictObject({
    identityId: identityId.optional().describe('Whose token it is to be; left out with rotate.'),
    scopes: scopeSet(SCOPES)
      .optional()
      .describe('Required without rotate; with it those of the old token when left out.'),
    roomIds: TokenRooms.optional().describe(
      'Rooms of the identity that the token is limited to; null for no restriction. With rotate those of the old token when left out.',
    ),
    expiresIn: tokenLifetime(LIMITS.issuedTokenDays)
      .optional()
      .describe(
        `Seconds; ${LIMITS.tokenDays} days when left out, with rotate the expiry of the old token.`,
      ),
    rotate: z
      .union([Uuid, z.literal('current')])
      .optional()
      .describe('The token to replace: its id, or the token of this call.'),
    reason: Reason.optional().describe('Required for the tokens of others.'),
  })
  .meta({ id: 'IssueTokenRequest' });
export type IssueTokenRequest = z.infer<typeof IssueTokenRequest>;

export const issueToken = operation({
  id: 'issueToken',
  method: 'POST',
  path: '/v1/tokens',
  tag: 'admin',
  summary: 'Issue a token, or replace one in the same moment',
  description:
    'An administrator issues tokens to anybody: agents and services take agent scopes, people also account and approvals, administrators everything. A person replaces own tokens with rotate, to narrow them: scopes and rooms within the old ones and within the token of the call, and no later expiry.',
  access: { scopes: [], unrestricted: true },
  body: IssueTokenRequest,
  example: {
    identityId: item.identityId,
    scopes: ['read', 'write'],
    expiresIn: 86_400,
    reason: 'ticket 4711',
  },
  responses: {
    201: {
      description: 'The token, shown once.',
      schema: IssuedToken,
      example: issuedTokenExample,
    },
  },
  errors: [
    'insufficient_scope',
    'admin_role_required',
    'not_found',
    'scope_not_allowed',
    'identity_disabled',
    'token_limit',
  ],
});

export const RevokeTokenRequest = z
  .strictObject({ reason: Reason.optional().describe('Required for the tokens of others.') })
  .optional();

export const revokeToken = operation({
  id: 'revokeToken',
  method: 'DELETE',
  path: '/v1/tokens/{id}',
  tag: 'admin',
  summary: 'Revoke a token: an own one of a person, or any one of an administrator',
  description: 'Revoking it again is no error.',
  access: { scopes: [], unrestricted: true },
  params: z.strictObject({ id: Uuid }),
  body: RevokeTokenRequest,
  example: { reason: 'leaked, ticket 4711' },
  responses: {
    200: {
      description: 'Revoked.',
      schema: z.strictObject({ ok: z.literal(true) }),
      example: { ok: true },
    },
  },
  errors: ['insufficient_scope', 'admin_role_required', 'not_found'],
});
