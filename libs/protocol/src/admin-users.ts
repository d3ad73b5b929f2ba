import { z } from 'zod';
import { DisplayName } from './accounts.js';
import { Identity, IdentityKind } from './identities.js';
import { Handle, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { UpdateProfileRequest } from './profile.js';
import { queryInt } from './query.js';
import { text } from './text.js';

/** The scope alone is not enough: its holder must be a person with the role of an administrator. */
export const adminAccess = { scopes: ['admin'], unrestricted: true } as const;

/** Why an operator does something. It is kept in the audit log. */
export const Reason = text({ min: 1, max: LIMITS.reasonBytes, line: true }).describe(
  'Why; kept in the audit log.',
);

export const pageLimit = queryInt(1, LIMITS.adminPageMax, LIMITS.adminPageDefault).optional();

/** An identity as an administrator sees it. No address and no secret is in it. */
export const User = Identity.extend({
  listed: z.boolean(),
  role: z.enum(['member', 'admin']),
  createdAt: UtcTime,
  disabledAt: UtcTime.nullable(),
  disabledBy: z.enum(['owner', 'operator']).nullable(),
  openTokens: z.int().min(0),
}).meta({ id: 'User' });
export type User = z.infer<typeof User>;

const example: User = {
  id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  number: '1234567897',
  handle: 'report-agent',
  kind: 'agent',
  displayName: 'Report agent',
  description: '',
  capabilities: [],
  ownerId: null,
  listed: false,
  role: 'member',
  createdAt: '2026-11-29T22:00:00.000Z',
  disabledAt: null,
  disabledBy: null,
  openTokens: 1,
};

export const UserPage = z
  .strictObject({
    items: z.array(User).max(LIMITS.adminPageMax),
    next: Handle.nullable().describe('Give it as after for the next page; null on the last one.'),
  })
  .meta({ id: 'UserPage' });
export type UserPage = z.infer<typeof UserPage>;

export const listUsers = operation({
  id: 'listUsers',
  method: 'GET',
  path: '/v1/users',
  tag: 'admin',
  summary: 'Every identity of this server, by handle',
  access: adminAccess,
  query: z.strictObject({
    after: Handle.optional().describe('The handle that the page before ended with.'),
    limit: pageLimit,
  }),
  responses: {
    200: { description: 'A page.', schema: UserPage, example: { items: [example], next: null } },
  },
  errors: ['admin_role_required'],
});

export const CreateUserRequest = z
  .strictObject({
    kind: IdentityKind,
    handle: Handle,
    displayName: DisplayName.optional().describe('The handle when left out.'),
    reason: Reason,
  })
  .meta({ id: 'CreateUserRequest' });
export type CreateUserRequest = z.infer<typeof CreateUserRequest>;

export const createUser = operation({
  id: 'createUser',
  method: 'POST',
  path: '/v1/users',
  tag: 'admin',
  summary: 'Create an identity',
  description:
    'Without password and token: issue one with POST /v1/tokens. No call makes an administrator; that takes the operator tool at the database.',
  access: adminAccess,
  body: CreateUserRequest,
  example: { kind: 'service', handle: 'billing', reason: 'ticket 4711' },
  responses: { 201: { description: 'The identity.', schema: User, example } },
  errors: ['admin_role_required', 'conflict'],
});

export const UpdateUserRequest = UpdateProfileRequest.extend({
  disabled: z
    .boolean()
    .optional()
    .describe('true revokes every token and ends every session at once; false revives none.'),
  reason: Reason,
}).meta({
  id: 'UpdateUserRequest',
  description: 'The fields to change; the others stay as they are.',
});
export type UpdateUserRequest = z.infer<typeof UpdateUserRequest>;

export const updateUser = operation({
  id: 'updateUser',
  method: 'PATCH',
  path: '/v1/users/{id}',
  tag: 'admin',
  summary: 'Change the profile of an identity, disable or enable it',
  access: adminAccess,
  params: z.strictObject({ id: Uuid }),
  body: UpdateUserRequest,
  example: { disabled: true, reason: 'spam, ticket 4711' },
  responses: { 200: { description: 'The identity as it is now.', schema: User, example } },
  errors: ['admin_role_required', 'not_found', 'invalid_target'],
});
