import { createHash, randomBytes, randomInt } from 'node:crypto';

/**
 * Digits and capitals without 0, O, 1, I and L, which people confuse when they copy a secret. 31 symbols:
 * log2(31) = 4.954 bits each.
 */
const SYMBOLS = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
/** 24 symbols carry 118.9 bits: beyond any guessing, also offline (SECURITY.md, "≈119 bits"). */
const SECRET_SYMBOLS = 24;
const TOKEN = /^rly_[A-Za-z0-9_-]{43}$/;
/** Another prefix than a token's: neither is ever accepted in the place of the other. */
const SESSION = /^rls_[A-Za-z0-9_-]{43}$/;
/** Compared with where there is no key: SHA-256 never yields it, and the comparison takes the same time. */
export const NO_RECOVERY_KEY = Buffer.alloc(32);

/** `length` symbols, each uniform: `randomInt` draws again instead of folding the range. */
function drawSymbols(length: number): string {
  return Array.from({ length }, () => SYMBOLS[randomInt(SYMBOLS.length)]).join('');
}

/** A bearer token: 32 random bytes behind a prefix that secret scanners can find. */
export function newToken(): string {
  return `rly_${randomBytes(32).toString('base64url')}`;
}

/**
 * What is stored of a token, or null for text that cannot be one. Plain SHA-256 without salt is enough: 256
 * random bits cannot be guessed, and the digest must be found by an index.
 */
export function hashToken(token: string): Buffer | null {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : null;
}

/** What the cookie of a web session holds. */
export function newSessionSecret(): string {
  return `rls_${randomBytes(32).toString('base64url')}`;
}

/** What is stored of it, as with a token; null for text that cannot be one. */
export function hashSessionSecret(secret: string): Buffer | null {
  return SESSION.test(secret) ? createHash('sha256').update(secret).digest() : null;
}

/** A password that the server makes. */
export function newPassword(): string {
  return drawSymbols(SECRET_SYMBOLS);
}

/** A recovery key as it is shown: `RK-` and six groups of four symbols. */
export function newRecoveryKey(): string {
  return `RK-${(drawSymbols(SECRET_SYMBOLS).match(/.{4}/g) ?? []).join('-')}`;
}

/**
 * What is stored of a recovery key: SHA-256 bound to the identity, so that equal keys of two identities have
 * unequal digests and a digest copied to another row opens nothing. Spelling does not count: case, spaces,
 * dashes and the prefix are dropped.
 */
export function hashRecoveryKey(identityId: string, recoveryKey: string): Buffer {
  const symbols = recoveryKey.toUpperCase().replace(/[\s-]/g, '').replace(/^RK/, '');
  return createHash('sha256').update(`recovery-key:${identityId}:${symbols}`).digest();
}

/** A code for a mail, `XXXX-XXXX`: 39.6 bits, enough for 15 minutes and limited attempts. */
export function newEmailCode(): string {
  return `${drawSymbols(4)}-${drawSymbols(4)}`;
}

/** A handle for an agent that named none: 8 symbols, 8.5 * 10^11 possibilities. */
export function newAgentHandle(): string {
  return `agent-${drawSymbols(8).toLowerCase()}`;
}
