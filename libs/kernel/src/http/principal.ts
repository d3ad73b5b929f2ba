import { type Access, fail, type IdentityKind, type Scope } from '@relayger/protocol';

/** Who makes a call, and what its token or web session allows. */
export interface Principal {
  /** The token that was shown, or that the web session hangs on; null for a session opened with a password. */
  tokenId: string | null;
  /** The web session whose cookie was shown; null for a token. Only people have web sessions. */
  sessionId: string | null;
  identityId: string;
  number: string;
  handle: string;
  kind: IdentityKind;
  displayName: string;
  /** An administrator is a person with this role; a scope alone makes none. */
  role: 'member' | 'admin';
  ownerId: string | null;
  createdAt: Date;
  expiresAt: Date;
  scopes: readonly Scope[];
  /** Rooms the token is limited to; null means no limit beyond membership. */
  roomIds: readonly string[] | null;
}

/** Whether the caller may act as an administrator: the role, and a token that was made for it. */
export function isAdmin(principal: Principal): boolean {
  return principal.role === 'admin' && hasScope(principal, 'admin');
}

/** Whether a token carries a scope; `*` carries all of them. */
export function hasScope(principal: Principal, scope: Scope): boolean {
  return principal.scopes.includes(scope) || principal.scopes.includes('*');
}

/** Whether a token's room list lets it near a room. Membership is checked apart from this. */
export function mayUseRoom(principal: Principal, roomId: string): boolean {
  return principal.roomIds === null || principal.roomIds.includes(roomId);
}

/**
 * The one check of scopes and room restriction, for HTTP and every later door.
 * @throws RelaygerError `insufficient_scope`, `room_restricted_token`
 */
export function authorize(principal: Principal, access: Exclude<Access, 'public'>): void {
  requireScopes(principal, access.scopes);
  if (access.unrestricted && principal.roomIds !== null) fail('room_restricted_token');
}

/** @throws RelaygerError `insufficient_scope` naming what is missing */
export function requireScopes(principal: Principal, scopes: readonly Scope[]): void {
  const required = scopes.filter((scope) => !hasScope(principal, scope));
  if (required.length > 0) fail('insufficient_scope', { required });
}

/** Finds who is behind a credential. Implemented by the accounts library, which owns tokens and web sessions. */
export abstract class Authenticator {
  /** The caller, or null for a token that is unknown, expired, revoked or of a disabled identity. */
  abstract authenticate(token: string): Promise<Principal | null>;

  /** Those of these tokens that still are good; for sockets, which were let in long ago. */
  abstract stillOpen(tokenIds: readonly string[]): Promise<ReadonlySet<string>>;

  /** The caller, or null for a cookie whose session is unknown, ended, or hangs on a token that is. */
  abstract authenticateSession(cookie: string): Promise<Principal | null>;
}
