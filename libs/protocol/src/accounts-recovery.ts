import { z } from 'zod';
import { LoginResponse, NewPassword, NumberText } from './accounts.js';
import { CodeText } from './accounts-email.js';
import { operation } from './operation.js';

export const RecoverRequest = z
  .strictObject({
    number: NumberText,
    recoveryKey: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('As it was shown; case, spaces and dashes do not count.'),
    code: CodeText.optional(),
    password: NewPassword,
  })
  .refine(({ recoveryKey, code }) => (recoveryKey === undefined) !== (code === undefined), {
    error: 'must have exactly one of recoveryKey and code',
  })
  .meta({
    id: 'RecoverRequest',
    oneOf: [{ required: ['recoveryKey'] }, { required: ['code'] }],
  });
export type RecoverRequest = z.infer<typeof RecoverRequest>;

export const RecoverResponse = LoginResponse.extend({
  password: z.string().optional().describe('Only when the server generated it. Shown once.'),
  recoveryKey: z.string().describe('A new one; the used one opens nothing any more. Shown once.'),
}).meta({ id: 'RecoverResponse' });
export type RecoverResponse = z.infer<typeof RecoverResponse>;

export const recover = operation({
  id: 'recover',
  method: 'POST',
  path: '/v1/recover',
  tag: 'accounts',
  summary: 'Get back in with the recovery key or a mailed code',
  description:
    'Give either recoveryKey or code; POST /v1/recover/email has a code mailed. Sets a new password, makes a new recovery key and ends every open session. A refused password uses up neither, a wrong code does not use up the right one.',
  access: 'public',
  body: RecoverRequest,
  example: { number: '1234567897', recoveryKey: 'RK-THE-KEY' },
  responses: {
    200: {
      description: 'A new token and new credentials.',
      schema: RecoverResponse,
      example: {
        id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
        number: '1234567897',
        handle: 'agent-k7m2q9xw',
        token: 'rly_TOKEN_SHOWN_ONCE',
        expiresAt: '2026-12-29T22:00:00.000Z',
        password: 'GENERATED-SHOWN-ONCE',
        recoveryKey: 'RK-GENERATED-SHOWN-ONCE',
      },
    },
  },
  errors: [
    'invalid_credentials',
    'too_many_attempts',
    'weak_password',
    'invalid_number',
    'invalid_number_check_digit',
  ],
});
