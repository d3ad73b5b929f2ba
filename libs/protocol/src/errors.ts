import { z } from 'zod';
import { ERROR_STATUS, type ErrorEntry, retryAfter } from './error-entry.js';
import { CONVERSATION_ERRORS } from './errors-conversations.js';
import { WORK_ERRORS } from './errors-work.js';

export { ERROR_STATUS, type ErrorKind } from './error-entry.js';

/** The catalogue: every error code that this server can answer, in the order of the contract's sections. */
export const ERRORS = {
  invalid_request: {
    kind: 'malformed',
    message:
      'The request does not match the contract; see details.issues for the fields to correct.',
    details: z
      .strictObject({
        issues: z
          .array(
            z.strictObject({
              path: z
                .string()
                .describe(
                  'Where the problem is: body.message.payload.text, query.limit, params.room, header.origin.',
                ),
              message: z.string().describe('What the value must be.'),
            }),
          )
          .describe('The fields to correct, each with its path and what it must be; at most 8.'),
      })
      .meta({ examples: [{ issues: [{ path: 'body.name', message: 'must not be empty' }] }] }),
  },
  token_in_query: {
    kind: 'malformed',
    message: 'Send the token in the Authorization header only; never put it in an address.',
  },
  unauthorized: {
    kind: 'unauthenticated',
    message:
      'Send a valid token as "Authorization: Bearer TOKEN"; it is missing, unknown, expired or revoked.',
  },
  insufficient_scope: {
    kind: 'forbidden',
    message: 'This token lacks a scope that the call needs; see details.required.',
    details: z
      .strictObject({
        required: z
          .array(z.string())
          .describe('The scopes that the call needs and this token lacks.'),
      })
      .meta({ examples: [{ required: ['write'] }] }),
  },
  room_restricted_token: {
    kind: 'forbidden',
    message:
      'A token limited to certain rooms cannot make this call; use one without a room restriction.',
  },
  origin_not_allowed: {
    kind: 'forbidden',
    message:
      "Send this service's own origin as Origin, or none where no cookie is involved; there is no cross-origin access.",
  },
  not_found: {
    kind: 'not_found',
    message:
      'There is nothing here, or nothing that you may see; check the path against /openapi.json, and the id.',
  },
  method_not_allowed: {
    kind: 'method_not_allowed',
    message: 'This path exists but not with this method; see the Allow header.',
  },
  conflict: {
    kind: 'conflict',
    message: 'That handle or e-mail address is not available; choose another one.',
  },
  body_too_large: {
    kind: 'too_large',
    message: 'Send a JSON body of at most 65536 bytes.',
    details: z
      .strictObject({ limitBytes: z.int().describe('The most bytes that the body may have.') })
      .meta({ examples: [{ limitBytes: 65_536 }] }),
  },
  unsupported_media_type: {
    kind: 'unsupported_media',
    message: 'Send the body as JSON with "Content-Type: application/json".',
  },
  rate_limited: {
    kind: 'quota',
    message: 'Too many requests in this minute; wait as long as Retry-After says.',
    details: retryAfter,
  },
  internal: {
    kind: 'internal',
    message:
      'Something failed on the server and nothing was acknowledged; retry with the same key, that is safe.',
  },
  unavailable: {
    kind: 'unavailable',
    message: 'The server cannot answer right now; retry after the time in Retry-After.',
    details: retryAfter,
  },

  operator_bootstrap_required: {
    kind: 'unavailable',
    message: 'This server is not set up yet; its operator has to make an administrator first.',
    details: retryAfter,
  },
  registration_closed: {
    kind: 'forbidden',
    message: 'This server does not accept registrations; ask its operator for an identity.',
  },
  registration_limit: {
    kind: 'quota',
    message:
      'Too many registrations from your network or on this server; wait as long as Retry-After says.',
    details: retryAfter,
  },
  weak_password: {
    kind: 'malformed',
    message:
      'Choose a password of at least 12 characters with 6 different ones that does not contain the number or handle.',
  },
  invalid_credentials: {
    kind: 'unauthenticated',
    message:
      'The number or address and the password, recovery key or code do not belong together; check both.',
  },
  too_many_attempts: {
    kind: 'quota',
    message:
      'Too many failed attempts; wait as long as Retry-After says, open tokens keep working.',
    details: retryAfter,
  },
  invalid_code: {
    kind: 'malformed',
    message:
      'This code is wrong, expired, used or for another address; take the newest one or ask for another.',
  },
  email_unavailable: {
    kind: 'unavailable',
    message: 'This server sends no mail; recover with the recovery key.',
  },
  full_agent_token_required: {
    kind: 'forbidden',
    message:
      'This token is too narrow for the call; use one with every agent scope and no room restriction.',
  },
  agent_only_fields: {
    kind: 'malformed',
    message:
      'People have no passwords on this server; leave password and email out, they are for agents here.',
  },
  agent_only: {
    kind: 'forbidden',
    message: 'Only an agent may do this; people use /v1/human and /v1/account instead.',
  },

  human_password_off: {
    kind: 'unavailable',
    message: 'People do not sign in with passwords on this server; use a token from its operator.',
  },
  session_required: {
    kind: 'forbidden',
    message:
      'This call is for a signed-in browser; sign in with POST /v1/human/login and send its cookie.',
  },
  token_required: {
    kind: 'forbidden',
    message: 'A web session opens no further one; send an API token in the Authorization header.',
  },
  operator_console_required: {
    kind: 'forbidden',
    message:
      'A token with the scope admin or * opens no browser session; use the API or the operator tool with it.',
  },

  agent_limit: {
    kind: 'quota',
    message: 'A person owns at most 32 agents, disabled ones included.',
  },
  token_limit: {
    kind: 'quota',
    message: 'At most 20 tokens of an identity may be open; revoke one first.',
  },
  identity_disabled: {
    kind: 'conflict',
    message: 'This identity is disabled; enable it first.',
  },
  disabled_by_operator: {
    kind: 'forbidden',
    message: 'An operator of this server has disabled this agent; only an operator enables it.',
  },
  already_owned: {
    kind: 'conflict',
    message: 'This agent has an owner already; an agent has at most one.',
  },
  ownership_code_not_found: {
    kind: 'not_found',
    message: 'This code is unknown, expired or used; let the agent make a new one.',
  },
  secured_account_required: {
    kind: 'forbidden',
    message:
      'Your account has no password and no verified address; set one of them before you own agents.',
  },

  admin_role_required: {
    kind: 'forbidden',
    message: 'Only an administrator may do this: a person with that role, not the scope alone.',
  },
  scope_not_allowed: {
    kind: 'forbidden',
    message:
      'This token cannot have one of these scopes: leave out what its identity, the old token or your own token may not do.',
  },

  invalid_number: {
    kind: 'malformed',
    message: 'Give a number of exactly 10 digits that does not start with 0.',
  },
  invalid_number_check_digit: {
    kind: 'malformed',
    message:
      'The check digit of this number is wrong, so a digit was mistyped; compare it with the original.',
  },
  invalid_target: {
    kind: 'malformed',
    message: 'You cannot do this with your own identity; name another one.',
  },
  invalid_note: {
    kind: 'malformed',
    message:
      'Send a note with a request only: one line of 1 to 500 bytes without control characters.',
  },
  no_pending_request: {
    kind: 'conflict',
    message: 'There is no incoming request from this identity to answer; request contact yourself.',
  },
  contact_required: {
    kind: 'forbidden',
    message:
      'A direct conversation with an agent needs an accepted contact request; request contact first.',
  },
  contact_unavailable: {
    kind: 'forbidden',
    message:
      'This contact is blocked, declined or not available; see its state with GET /v1/contacts.',
  },
  contact_request_limit: {
    kind: 'quota',
    message: 'At most 100 of your contact requests may await an answer; withdraw one with remove.',
  },

  invite_not_found: {
    kind: 'not_found',
    message: 'This code is unknown, expired or used up; ask for a new one.',
  },
  invite_limit: {
    kind: 'quota',
    message: 'At most 10 of your invites may be active; revoke one with DELETE /v1/invites/{id}.',
  },
  key_id_in_use: {
    kind: 'conflict',
    message:
      'This keyId is your current one with another key; publish the new key under a new UUID.',
  },

  ...CONVERSATION_ERRORS,
  ...WORK_ERRORS,
} as const satisfies Record<string, ErrorEntry>;

/** A code of the catalogue. */
export type ErrorCode = keyof typeof ERRORS;

/** The `details` that go with a code, or `undefined` where it carries none. */
export type ErrorDetails<C extends ErrorCode> = (typeof ERRORS)[C] extends {
  details: infer S extends z.ZodType;
}
  ? z.infer<S>
  : undefined;

/** HTTP status of a code. */
export function errorStatus(code: ErrorCode): number {
  return ERROR_STATUS[ERRORS[code].kind];
}

/** A failure that the caller is told about: a catalogue code and its details. */
export class RelaygerError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'RelaygerError';
  constructor(
    readonly code: C,
    readonly details?: ErrorDetails<C>,
    options?: ErrorOptions,
  ) {
    super(ERRORS[code].message, options);
  }
}

/** Throws a catalogue error; the type system asks for `details` exactly where the code has them. */
export function fail<C extends ErrorCode>(
  code: C,
  ...[details]: ErrorDetails<C> extends undefined ? [] : [details: ErrorDetails<C>]
): never {
  throw new RelaygerError(code, details as ErrorDetails<C>);
}

/** Throws `invalid_request` for one field, in the shape that schema validation uses. */
export function failField(path: string, message: string): never {
  throw new RelaygerError('invalid_request', { issues: [{ path, message }] });
}

/** The body of every failed call. */
export const ErrorBody = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
      message: z.string(),
      requestId: z.string(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .meta({
    id: 'ErrorBody',
    description: 'One error: a stable code, what to do, and the id that the log knows.',
  });
export type ErrorBody = z.infer<typeof ErrorBody>;
