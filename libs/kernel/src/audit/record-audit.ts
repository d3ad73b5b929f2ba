import type { AuditAction } from '@relayger/protocol';
import { type Sql, statement } from '../database/sql.js';

/** Who managed what. Ids, scopes and names of fields only: no secret, no address, no text of a message. */
export interface AuditEntry {
  /** Null: an operator at the database, who has no identity. */
  actorId: string | null;
  action: AuditAction;
  /** The identity that it was done to. */
  subjectId?: string;
  tokenId?: string;
  reason?: string;
  details?: Readonly<Record<string, string | number | boolean | readonly string[] | null>>;
}

const insert = statement(
  'kernel_record_audit',
  `INSERT INTO audit_log (actor_id, action, subject_id, token_id, reason, details) VALUES ($1, $2, $3, $4, $5, $6)`,
);

/** Records a change inside the transaction that makes it: neither is there without the other. */
export async function recordAudit(sql: Sql, entry: AuditEntry): Promise<void> {
  const { actorId, action, subjectId, tokenId, reason, details } = entry;
  await sql.query(insert, [
    actorId,
    action,
    subjectId ?? null,
    tokenId ?? null,
    reason ?? null,
    details ? JSON.stringify(details) : null,
  ]);
}
