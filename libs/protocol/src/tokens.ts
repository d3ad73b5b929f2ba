import { z } from 'zod';
import { UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { Scope } from './scopes.js';

const DAY = 86_400;

const grant = {
  scopes: z.array(Scope),
  roomIds: z.array(Uuid).nullable().describe('null: no room restriction. []: no room at all.'),
  expiresAt: UtcTime,
};

/** An open token as whoever manages it sees it. */
export const TokenInfo = z
  .strictObject({
    id: Uuid,
    ...grant,
    createdAt: UtcTime,
    lastUsedAt: UtcTime.nullable().describe('Exact to about a minute; null before the first use.'),
  })
  .meta({
    id: 'TokenInfo',
    description: 'An open token. Neither the token nor its hash is in it.',
  });
export type TokenInfo = z.infer<typeof TokenInfo>;

export const IssuedToken = z
  .strictObject({
    id: Uuid,
    token: z.string().describe('Bearer token. Shown once; only its hash is stored.'),
    ...grant,
  })
  .meta({ id: 'IssuedToken' });
export type IssuedToken = z.infer<typeof IssuedToken>;

/** A set of scopes that somebody asks for. */
export function scopeSet<const S extends readonly [string, ...string[]]>(scopes: S) {
  return z
    .array(z.enum(scopes))
    .min(1)
    .refine((asked) => new Set(asked).size === asked.length, 'must not repeat a scope');
}

export const TokenRooms = z
  .array(Uuid)
  .max(LIMITS.tokenRooms)
  .refine((rooms) => new Set(rooms).size === rooms.length, 'must not repeat a room')
  .nullable()
  .describe('The rooms that the token is limited to; null for no restriction, [] for no room.');

/** Seconds that a token lives. */
export function tokenLifetime(maxDays: number) {
  return z
    .int()
    .min(60)
    .max(maxDays * DAY)
    .describe(`Seconds; ${LIMITS.tokenDays} days when left out.`);
}

const example = {
  id: '0190b2f6-3c4d-7e5f-8a9b-0c1d2e3f4a5b',
  expiresAt: '2026-12-29T22:00:00.000Z',
};

export const tokenInfoExample: TokenInfo = {
  ...example,
  scopes: ['read', 'write'],
  roomIds: null,
  createdAt: '2026-11-29T22:00:00.000Z',
  lastUsedAt: '2026-11-29T22:05:00.000Z',
};

export const issuedTokenExample: IssuedToken = {
  ...example,
  token: 'rly_TOKEN_SHOWN_ONCE',
  scopes: ['read', 'write'],
  roomIds: null,
};
