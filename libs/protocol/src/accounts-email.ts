import { z } from 'zod';
import { EmailAddress, NumberText } from './accounts.js';
import { accountAccess as access, CurrentPassword, proofErrors } from './accounts-proof.js';
import { operation } from './operation.js';

/** A code out of a mail, as it was copied. */
export const CodeText = z
  .string()
  .min(1)
  .max(40)
  .describe('XXXX-XXXX, as it was mailed; case, spaces and dashes do not count.');

export const Done = z.strictObject({ ok: z.literal(true) }).meta({ id: 'Done' });
export type Done = z.infer<typeof Done>;

export const SetRecoveryEmailRequest = z
  .strictObject({ email: EmailAddress, password: CurrentPassword })
  .meta({ id: 'SetRecoveryEmailRequest' });
export type SetRecoveryEmailRequest = z.infer<typeof SetRecoveryEmailRequest>;

export const SetRecoveryEmailResponse = z
  .strictObject({
    ok: z.literal(true),
    state: z
      .enum(['code_sent', 'limited'])
      .describe('limited: the mail quota is used up; no code was sent and nothing has changed.'),
  })
  .meta({ id: 'SetRecoveryEmailResponse' });
export type SetRecoveryEmailResponse = z.infer<typeof SetRecoveryEmailResponse>;

export const setRecoveryEmail = operation({
  id: 'setRecoveryEmail',
  method: 'POST',
  path: '/v1/me/email',
  tag: 'accounts',
  summary: 'Add or change my recovery address: mails it a code',
  description:
    'The address counts only once its code has come back with POST /v1/me/email/verify; until then the one before stays. One address may protect several accounts.',
  access,
  body: SetRecoveryEmailRequest,
  example: { email: 'owner@example.com', password: 'THE-PASSWORD' },
  responses: {
    200: {
      description: 'A code is on its way. It lasts 15 minutes.',
      schema: SetRecoveryEmailResponse,
      example: { ok: true, state: 'code_sent' },
    },
  },
  errors: [...proofErrors, 'email_unavailable'],
});

export const VerifyRecoveryEmailRequest = z
  .strictObject({ code: CodeText })
  .meta({ id: 'VerifyRecoveryEmailRequest' });
export type VerifyRecoveryEmailRequest = z.infer<typeof VerifyRecoveryEmailRequest>;

export const VerifyRecoveryEmailResponse = z
  .strictObject({ ok: z.literal(true), email: z.string().describe('The verified address.') })
  .meta({ id: 'VerifyRecoveryEmailResponse' });
export type VerifyRecoveryEmailResponse = z.infer<typeof VerifyRecoveryEmailResponse>;

export const verifyRecoveryEmail = operation({
  id: 'verifyRecoveryEmail',
  method: 'POST',
  path: '/v1/me/email/verify',
  tag: 'accounts',
  summary: 'Verify my recovery address with the code that was mailed to it',
  description:
    'A wrong code does not use up the right one, but counts as a failed attempt. An address that is replaced is told so.',
  access,
  body: VerifyRecoveryEmailRequest,
  example: { code: 'K7MQ-4XWP' },
  responses: {
    200: {
      description: 'From now on this address can recover the account.',
      schema: VerifyRecoveryEmailResponse,
      example: { ok: true, email: 'owner@example.com' },
    },
  },
  errors: ['agent_only', 'invalid_code', 'too_many_attempts'],
});

export const RemoveRecoveryEmailRequest = z
  .strictObject({ password: CurrentPassword })
  .meta({ id: 'RemoveRecoveryEmailRequest' });
export type RemoveRecoveryEmailRequest = z.infer<typeof RemoveRecoveryEmailRequest>;

export const removeRecoveryEmail = operation({
  id: 'removeRecoveryEmail',
  method: 'DELETE',
  path: '/v1/me/email',
  tag: 'accounts',
  summary: 'Remove my recovery address, and forget one that awaits its code',
  description:
    'The removed address is told so. An account without one is left as it is: a retry succeeds.',
  access,
  body: RemoveRecoveryEmailRequest,
  example: { password: 'THE-PASSWORD' },
  responses: { 200: { description: 'Removed.', schema: Done, example: { ok: true } } },
  errors: proofErrors,
});

export const RequestRecoveryCodeRequest = z
  .strictObject({ number: NumberText })
  .meta({ id: 'RequestRecoveryCodeRequest' });
export type RequestRecoveryCodeRequest = z.infer<typeof RequestRecoveryCodeRequest>;

export const requestRecoveryCode = operation({
  id: 'requestRecoveryCode',
  method: 'POST',
  path: '/v1/recover/email',
  tag: 'accounts',
  summary: 'Have a recovery code mailed to the verified address of an account',
  description:
    'The answer is the same, after the same time, whether there is such an account with a verified address or not.',
  access: 'public',
  body: RequestRecoveryCodeRequest,
  example: { number: '1234567897' },
  responses: {
    200: {
      description: 'If there is a verified address, a code is on its way. It lasts 15 minutes.',
      schema: Done,
      example: { ok: true },
    },
  },
  errors: ['invalid_number', 'invalid_number_check_digit', 'email_unavailable'],
});
