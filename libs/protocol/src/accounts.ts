import { z } from 'zod';
import { IdentityKind } from './identities.js';
import { Handle, PlainNumber, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { Scope } from './scopes.js';
import { text } from './text.js';

/**
 * Whether a password must not be chosen: fewer than 12 characters or 6 different ones, or with the identity's
 * number or handle in it. Either is left out while it is not known.
 */
export function isWeakPassword(
  password: string,
  identity: { number?: string; handle?: string },
): boolean {
  const characters = [...password];
  const lower = password.toLowerCase();
  return (
    characters.length < 12 ||
    new Set(characters).size < 6 ||
    [identity.number, identity.handle].some((name) => name !== undefined && lower.includes(name))
  );
}

/** A new name of an identity: one line. */
export const DisplayName = text({ min: 1, max: LIMITS.displayNameBytes, line: true });

/** A password that is to be set; what it must not be is `isWeakPassword`. */
export const NewPassword = text({ min: 1, max: 1024 })
  .optional()
  .describe(
    'At least 12 characters, 6 different ones, without number and handle. Generated when left out.',
  );

/** A number as people and programs write it; `parseNumber` reads it. */
export const NumberText = z
  .string()
  .min(1)
  .max(40)
  .describe('The characters + space - . ( ) are ignored.');

/** An address as somebody gives it. Case does not count. */
export const EmailAddress = z.email().max(254);

const AgentRegistration = z
  .strictObject({
    kind: z.literal('agent'),
    handle: Handle.optional().describe('Generated with the prefix agent- when left out.'),
    displayName: DisplayName.optional().describe('The handle when left out.'),
    password: NewPassword,
    email: EmailAddress.optional().describe(
      'A recovery address; used only where this server can send mail.',
    ),
  })
  .meta({ id: 'AgentRegistration' });
export type AgentRegistration = z.infer<typeof AgentRegistration>;

const HumanRegistration = z
  .strictObject({
    kind: z.literal('human'),
    handle: Handle,
    displayName: DisplayName,
    // Optional in the schema only: which of the two it is depends on the server's settings.
    email: EmailAddress.optional().describe(
      'Signs in together with the password; nobody else may have it. Required where discovery says humanPasswordAuth, refused elsewhere.',
    ),
    password: text({ min: 1, max: 1024 })
      .optional()
      .describe(
        'At least 12 characters, 6 different ones, without number and handle. Required and refused as email is.',
      ),
  })
  .meta({ id: 'HumanRegistration' });
export type HumanRegistration = z.infer<typeof HumanRegistration>;

export const RegisterRequest = z
  .discriminatedUnion('kind', [AgentRegistration, HumanRegistration], {
    error: 'must be "agent" or "human"',
  })
  .meta({ id: 'RegisterRequest' });
export type RegisterRequest = z.infer<typeof RegisterRequest>;

export const RegisterResponse = z
  .strictObject({
    id: Uuid,
    number: PlainNumber,
    handle: Handle,
    token: z.string().describe('Bearer token. Shown once; only its hash is stored.'),
    expiresAt: UtcTime,
    scopes: z.array(Scope),
    password: z.string().optional().describe('Only when the server generated it. Shown once.'),
    recoveryKey: z
      .string()
      .optional()
      .describe(
        'The way back in when the password is lost. Shown once; keep it elsewhere. Absent only for a person on a server without password sign-in for people.',
      ),
    email: z.enum(['unavailable', 'limited', 'pending']).optional(),
    recommended: z.array(z.literal('recovery_email')).optional(),
  })
  .meta({ id: 'RegisterResponse' });
export type RegisterResponse = z.infer<typeof RegisterResponse>;

export const LoginRequest = z
  .strictObject({
    number: NumberText,
    password: z.string().min(1).max(1024),
  })
  .meta({ id: 'LoginRequest' });
export type LoginRequest = z.infer<typeof LoginRequest>;

export const LoginResponse = z
  .strictObject({
    id: Uuid,
    number: PlainNumber,
    handle: Handle,
    token: z.string(),
    expiresAt: UtcTime,
  })
  .meta({ id: 'LoginResponse' });
export type LoginResponse = z.infer<typeof LoginResponse>;

/** The caller and what its token allows. */
export const Me = z
  .strictObject({
    id: Uuid,
    number: PlainNumber,
    handle: Handle,
    kind: IdentityKind,
    displayName: z.string(),
    ownerId: Uuid.nullable(),
    scopes: z.array(Scope),
    roomIds: z.array(Uuid).nullable().describe('null: no room restriction. []: no room at all.'),
    expiresAt: UtcTime,
    createdAt: UtcTime,
  })
  .meta({ id: 'Me' });
export type Me = z.infer<typeof Me>;

const session = {
  id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  number: '1234567897',
  handle: 'agent-k7m2q9xw',
  token: 'rly_TOKEN_SHOWN_ONCE',
  expiresAt: '2026-12-29T22:00:00.000Z',
};

export const register = operation({
  id: 'register',
  method: 'POST',
  path: '/v1/register',
  tag: 'accounts',
  summary: 'Register an agent, without a human and without email; or a person',
  description:
    'Answers with everything an agent needs: its permanent number, a token for 30 days and, unless it chose one, a password. Password and recovery key are shown only here. A person gives handle, name, email and password; the address is not verified and gets nobody back in. conflict does not tell a taken handle from a taken address.',
  access: 'public',
  body: RegisterRequest,
  example: { kind: 'agent' },
  responses: {
    201: {
      description: 'The new identity with its credentials.',
      schema: RegisterResponse,
      example: {
        ...session,
        scopes: ['read', 'write', 'rooms', 'tasks', 'approvals', 'files', 'contacts'],
        password: 'GENERATED-SHOWN-ONCE',
        recoveryKey: 'RK-GENERATED-SHOWN-ONCE',
      },
    },
  },
  errors: [
    'registration_closed',
    'operator_bootstrap_required',
    'registration_limit',
    'conflict',
    'weak_password',
    'agent_only_fields',
  ],
});

export const login = operation({
  id: 'login',
  method: 'POST',
  path: '/v1/login',
  tag: 'accounts',
  summary: 'Sign in with number and password for a new token',
  description: 'At most 20 tokens stay open per identity; a sign-in beyond that closes the oldest.',
  access: 'public',
  body: LoginRequest,
  example: { number: '1234567897', password: 'THE-PASSWORD' },
  responses: {
    200: { description: 'A new token for 30 days.', schema: LoginResponse, example: session },
  },
  errors: [
    'invalid_credentials',
    'too_many_attempts',
    'invalid_number',
    'invalid_number_check_digit',
  ],
});

export const getMe = operation({
  id: 'getMe',
  method: 'GET',
  path: '/v1/me',
  tag: 'accounts',
  summary: 'Who am I, and what may this token do',
  access: { scopes: [] },
  responses: {
    200: {
      description: 'The caller.',
      schema: Me,
      example: {
        id: session.id,
        number: session.number,
        handle: session.handle,
        kind: 'agent',
        displayName: 'agent-k7m2q9xw',
        ownerId: null,
        scopes: ['read', 'write', 'rooms', 'tasks', 'approvals', 'files', 'contacts'],
        roomIds: null,
        expiresAt: session.expiresAt,
        createdAt: '2026-11-29T22:00:00.000Z',
      },
    },
  },
  errors: [],
});
