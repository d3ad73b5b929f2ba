import { z } from 'zod';
import { NewPassword } from './accounts.js';
import { accountAccess as access, CurrentPassword, proofErrors } from './accounts-proof.js';
import { PlainNumber, UtcTime, Uuid } from './ids.js';
import { operation } from './operation.js';

export const Session = z
  .strictObject({
    id: Uuid,
    createdAt: UtcTime,
    lastUsedAt: UtcTime.nullable().describe('Exact to about a minute; null before the first use.'),
    expiresAt: UtcTime,
    current: z.boolean().describe('Whether it is the token of this call.'),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;

/** Steps that would make the account safer or easier to get back. */
export const Recommendation = z
  .enum(['password', 'recovery_key', 'recovery_email'])
  .meta({ id: 'Recommendation' });
export type Recommendation = z.infer<typeof Recommendation>;

export const Security = z
  .strictObject({
    number: PlainNumber,
    hasPassword: z.boolean(),
    hasRecoveryKey: z.boolean(),
    email: z.strictObject({ address: z.string(), verified: z.boolean() }).nullable(),
    pendingEmail: z.string().nullable().describe('An address that awaits its code.'),
    sessions: z.array(Session).describe('Open tokens, the newest first.'),
    recommended: z.array(Recommendation),
  })
  .meta({ id: 'Security' });
export type Security = z.infer<typeof Security>;

const session: Session = {
  id: '0190b2f6-3c4d-7e5f-8a9b-0c1d2e3f4a5b',
  createdAt: '2026-11-29T22:00:00.000Z',
  lastUsedAt: '2026-11-29T22:05:00.000Z',
  expiresAt: '2026-12-29T22:00:00.000Z',
  current: true,
};

export const getSecurity = operation({
  id: 'getSecurity',
  method: 'GET',
  path: '/v1/me/security',
  tag: 'accounts',
  summary: 'How my account is protected, and which sessions are open',
  access,
  responses: {
    200: {
      description: 'The summary. No secret is in it.',
      schema: Security,
      example: {
        number: '1234567897',
        hasPassword: true,
        hasRecoveryKey: true,
        email: null,
        pendingEmail: null,
        sessions: [session],
        recommended: [],
      },
    },
  },
  errors: ['agent_only'],
});

export const ChangePasswordRequest = z
  .strictObject({ current: CurrentPassword, password: NewPassword })
  .meta({ id: 'ChangePasswordRequest' });
export type ChangePasswordRequest = z.infer<typeof ChangePasswordRequest>;

export const ChangePasswordResponse = z
  .strictObject({
    revokedSessions: z.int().min(0),
    password: z.string().optional().describe('Only when the server generated it. Shown once.'),
  })
  .meta({ id: 'ChangePasswordResponse' });
export type ChangePasswordResponse = z.infer<typeof ChangePasswordResponse>;

export const changePassword = operation({
  id: 'changePassword',
  method: 'POST',
  path: '/v1/me/password',
  tag: 'accounts',
  summary: 'Change my password and end every other session',
  description:
    'A wrong current password counts as a failed sign-in. An account without a password gets its first one here, with a token that carries every agent scope.',
  access,
  body: ChangePasswordRequest,
  example: { current: 'THE-PASSWORD' },
  responses: {
    200: {
      description: 'Changed.',
      schema: ChangePasswordResponse,
      example: { revokedSessions: 2, password: 'GENERATED-SHOWN-ONCE' },
    },
  },
  errors: [...proofErrors, 'weak_password'],
});

export const RotateRecoveryKeyRequest = z
  .strictObject({ password: CurrentPassword })
  .meta({ id: 'RotateRecoveryKeyRequest' });
export type RotateRecoveryKeyRequest = z.infer<typeof RotateRecoveryKeyRequest>;

export const RotateRecoveryKeyResponse = z
  .strictObject({ recoveryKey: z.string().describe('Shown once; keep it away from this machine.') })
  .meta({ id: 'RotateRecoveryKeyResponse' });
export type RotateRecoveryKeyResponse = z.infer<typeof RotateRecoveryKeyResponse>;

export const rotateRecoveryKey = operation({
  id: 'rotateRecoveryKey',
  method: 'POST',
  path: '/v1/me/recovery-key',
  tag: 'accounts',
  summary: 'Make a new recovery key; the old one opens nothing any more',
  access,
  body: RotateRecoveryKeyRequest,
  example: { password: 'THE-PASSWORD' },
  responses: {
    200: {
      description: 'The new key.',
      schema: RotateRecoveryKeyResponse,
      example: { recoveryKey: 'RK-GENERATED-SHOWN-ONCE' },
    },
  },
  errors: proofErrors,
});

export const RevokeSessionsRequest = z
  .strictObject({ session: z.union([z.enum(['others', 'current']), Uuid]) })
  .meta({
    id: 'RevokeSessionsRequest',
    description: 'Which sessions end: others, current, or one by its id.',
  });
export type RevokeSessionsRequest = z.infer<typeof RevokeSessionsRequest>;

export const RevokeSessionsResponse = z
  .strictObject({
    revokedSessions: z.int().min(0).describe('0 when the session had ended before.'),
  })
  .meta({ id: 'RevokeSessionsResponse' });
export type RevokeSessionsResponse = z.infer<typeof RevokeSessionsResponse>;

export const revokeSessions = operation({
  id: 'revokeSessions',
  method: 'POST',
  path: '/v1/me/sessions/revoke',
  tag: 'accounts',
  summary: 'End sessions of mine',
  access,
  body: RevokeSessionsRequest,
  example: { session: 'others' },
  responses: {
    200: { description: 'Ended.', schema: RevokeSessionsResponse, example: { revokedSessions: 1 } },
  },
  errors: ['agent_only', 'not_found'],
});
