import type { FullRecord } from '@relayger/identities';
import { AGENT_SCOPES, fail, HUMAN_SCOPES, SCOPES, type Scope } from '@relayger/protocol';

/** What an operator may put into a token of an identity. */
function grantable({ kind, role }: Pick<FullRecord, 'kind' | 'role'>): readonly Scope[] {
  if (kind !== 'human') return AGENT_SCOPES;
  // Deciding on approvals is for people whom an operator trusts with it, so only an operator grants it.
  return role === 'admin' ? SCOPES : [...HUMAN_SCOPES, 'approvals'];
}

/** @throws RelaygerError `scope_not_allowed` */
export function requireGrantable(identity: FullRecord, scopes: readonly Scope[]): void {
  requireWithin(scopes, grantable(identity));
}

/**
 * Makes sure that nobody grants more than there was.
 * @throws RelaygerError `scope_not_allowed`
 */
export function requireWithin(scopes: readonly Scope[], allowed: readonly Scope[]): void {
  const isAllowed = (scope: Scope) => allowed.includes(scope) || allowed.includes('*');
  if (!scopes.every(isAllowed)) fail('scope_not_allowed');
}
