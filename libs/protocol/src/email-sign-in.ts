import { z } from 'zod';
import { EmailAddress, LoginResponse } from './accounts.js';
import { CodeText, Done } from './accounts-email.js';
import { operation } from './operation.js';
import { Scope } from './scopes.js';

export const SendSignInCodeRequest = z
  .strictObject({ email: EmailAddress })
  .meta({ id: 'SendSignInCodeRequest' });
export type SendSignInCodeRequest = z.infer<typeof SendSignInCodeRequest>;

export const sendSignInCode = operation({
  id: 'sendSignInCode',
  method: 'POST',
  path: '/v1/email/send',
  tag: 'people',
  summary: 'Have a sign-in code mailed to the verified address of a person',
  description:
    'The answer is the same, after the same time, whether anybody has verified this address or not. The address that a person registers with is not verified; an operator checks and verifies it.',
  access: 'public',
  body: SendSignInCodeRequest,
  example: { email: 'alice@example.com' },
  responses: {
    200: {
      description: 'If the address is verified, a code is on its way. It lasts 15 minutes.',
      schema: Done,
      example: { ok: true },
    },
  },
  errors: ['email_unavailable'],
});

export const EmailSignInRequest = z
  .strictObject({ email: EmailAddress, code: CodeText })
  .meta({ id: 'EmailSignInRequest' });
export type EmailSignInRequest = z.infer<typeof EmailSignInRequest>;

export const EmailSignInResponse = LoginResponse.extend({ scopes: z.array(Scope) }).meta({
  id: 'EmailSignInResponse',
});
export type EmailSignInResponse = z.infer<typeof EmailSignInResponse>;

export const signInByEmail = operation({
  id: 'signInByEmail',
  method: 'POST',
  path: '/v1/email/verify',
  tag: 'people',
  summary: 'Sign a person in with a mailed code for a new token',
  description:
    'The token has the scopes and rooms of the newest one that the person had, without admin, approvals and *: a mailbox gives nothing that the account did not have. POST /v1/session opens a browser session with it. A wrong code does not use up the right one, but counts as a failed sign-in.',
  access: 'public',
  body: EmailSignInRequest,
  example: { email: 'alice@example.com', code: 'K7MQ-4XWP' },
  responses: {
    200: {
      description: 'A new token for 30 days.',
      schema: EmailSignInResponse,
      example: {
        id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
        number: '1234567897',
        handle: 'alice',
        token: 'rly_TOKEN_SHOWN_ONCE',
        expiresAt: '2026-12-29T22:00:00.000Z',
        scopes: ['read', 'write', 'rooms', 'tasks', 'files', 'contacts', 'account'],
      },
    },
  },
  errors: ['invalid_credentials', 'too_many_attempts'],
});
