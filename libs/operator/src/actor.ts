import { type AuditEntry, isAdmin, type Principal, recordAudit, type Sql } from '@relayger/kernel';
import { fail, failField } from '@relayger/protocol';

/** Who manages, and why. */
export interface Actor {
  /** Null: an operator at the database, who needs no identity. */
  id: string | null;
  /** The account on the machine that an operator works with. */
  systemUser?: string;
  reason: string;
}

/** @throws RelaygerError `admin_role_required` */
export function requireAdmin(caller: Principal): void {
  if (!isAdmin(caller)) fail('admin_role_required');
}

/**
 * The caller as somebody who manages others.
 * @throws RelaygerError `admin_role_required`, `invalid_request` without a reason
 */
export function adminActor(caller: Principal, reason: string | undefined): Actor {
  requireAdmin(caller);
  return {
    id: caller.identityId,
    reason: reason ?? failField('body.reason', 'is required (string)'),
  };
}

/** Records what an actor does inside the transaction that does it. */
export function recordAct(
  sql: Sql,
  { id, systemUser, reason }: Actor,
  entry: Omit<AuditEntry, 'actorId' | 'reason'>,
): Promise<void> {
  const details = { ...entry.details, ...(systemUser !== undefined && { systemUser }) };
  const hasDetails = Object.keys(details).length > 0;
  return recordAudit(sql, { ...entry, actorId: id, reason, ...(hasDetails && { details }) });
}
