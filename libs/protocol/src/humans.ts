import { z } from 'zod';
import { EmailAddress } from './accounts.js';
import { Handle, PlainNumber, UtcTime, Uuid } from './ids.js';
import { operation } from './operation.js';
import { text } from './text.js';

const Password = z.string().min(1).max(1024);
const ChosenPassword = text({ min: 1, max: 1024 }).describe(
  'At least 12 characters, 6 different ones, without number and handle.',
);

/** A signed-in browser. What opens it is in the cookie, which scripts cannot read. */
export const WebSession = z
  .strictObject({
    id: Uuid.describe('The identity that is signed in.'),
    number: PlainNumber,
    handle: Handle,
    expiresAt: UtcTime,
  })
  .meta({ id: 'WebSession' });
export type WebSession = z.infer<typeof WebSession>;

/** The reply that signs a browser in. */
export const sessionOpened = {
  description: 'Signed in; the cookie is HttpOnly, SameSite=Strict and for this host only.',
  schema: WebSession,
  headers: {
    'Set-Cookie': z
      .string()
      .describe(
        '__Host-relayger_session where the service has an https origin, relayger_session elsewhere.',
      ),
  },
  example: {
    id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
    number: '1234567897',
    handle: 'alice',
    expiresAt: '2026-11-30T06:00:00.000Z',
  },
};

export const HumanLoginRequest = z
  .strictObject({ email: EmailAddress, password: Password })
  .meta({ id: 'HumanLoginRequest' });
export type HumanLoginRequest = z.infer<typeof HumanLoginRequest>;

export const humanLogin = operation({
  id: 'humanLogin',
  method: 'POST',
  path: '/v1/human/login',
  tag: 'people',
  summary: 'Sign a browser in with e-mail address and password',
  description:
    'For at most 8 hours. An address that nobody has is answered like a wrong password. At most 20 sessions stay open; a sign-in beyond that closes the oldest.',
  access: 'public',
  ownOrigin: true,
  body: HumanLoginRequest,
  example: { email: 'alice@example.com', password: 'THE-PASSWORD' },
  responses: { 200: sessionOpened },
  errors: ['invalid_credentials', 'too_many_attempts', 'human_password_off'],
});

export const NewRecoveryKey = z
  .strictObject({
    recoveryKey: z
      .string()
      .describe('A new one; the old one opens nothing any more. Shown once; keep it elsewhere.'),
  })
  .meta({ id: 'NewRecoveryKey' });
export type NewRecoveryKey = z.infer<typeof NewRecoveryKey>;

const newKey = {
  description: 'Done.',
  schema: NewRecoveryKey,
  example: { recoveryKey: 'RK-GENERATED-SHOWN-ONCE' },
};

export const HumanPasswordRequest = z
  .strictObject({ email: EmailAddress, password: Password, newPassword: ChosenPassword })
  .meta({ id: 'HumanPasswordRequest' });
export type HumanPasswordRequest = z.infer<typeof HumanPasswordRequest>;

export const changeHumanPassword = operation({
  id: 'changeHumanPassword',
  method: 'POST',
  path: '/v1/human/password',
  tag: 'people',
  summary: 'Change my password; ends every token and every other session of mine',
  description:
    'Needs the cookie of a web session, and the address and password in force; a wrong one counts as a failed sign-in.',
  access: { scopes: ['account'] },
  body: HumanPasswordRequest,
  example: {
    email: 'alice@example.com',
    password: 'THE-PASSWORD',
    newPassword: 'the next password 2027',
  },
  responses: { 200: newKey },
  errors: [
    'session_required',
    'weak_password',
    'invalid_credentials',
    'too_many_attempts',
    'human_password_off',
  ],
});

export const HumanRecoverRequest = z
  .strictObject({
    email: EmailAddress,
    recoveryKey: z
      .string()
      .min(1)
      .max(100)
      .describe('As it was shown; case, spaces and dashes do not count.'),
    newPassword: ChosenPassword,
  })
  .meta({ id: 'HumanRecoverRequest' });
export type HumanRecoverRequest = z.infer<typeof HumanRecoverRequest>;

export const recoverHuman = operation({
  id: 'recoverHuman',
  method: 'POST',
  path: '/v1/human/recover',
  tag: 'people',
  summary: 'Set a new password with the recovery key',
  description:
    'The key works once. Every token and session ends; sign in with the new password afterwards. A refused password does not use up the key.',
  access: 'public',
  body: HumanRecoverRequest,
  example: {
    email: 'alice@example.com',
    recoveryKey: 'RK-THE-KEY',
    newPassword: 'the next password 2027',
  },
  responses: { 200: newKey },
  errors: ['weak_password', 'invalid_credentials', 'too_many_attempts', 'human_password_off'],
});
