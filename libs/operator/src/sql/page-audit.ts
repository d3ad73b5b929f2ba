import { type Sql, statement } from '@relayger/kernel';
import type { AuditAction } from '@relayger/protocol';

export interface AuditRow {
  id: string;
  at: Date;
  actorId: string | null;
  action: AuditAction;
  subjectId: string | null;
  tokenId: string | null;
  reason: string | null;
  details: Record<string, unknown> | null;
}

const page = statement<AuditRow>(
  'operator_page_audit',
  `SELECT id, created_at AS at, actor_id AS "actorId", action, subject_id AS "subjectId", token_id AS "tokenId",
          reason, details
     FROM audit_log WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
);

/** Records of the audit log below an id, the newest first. */
export function pageAudit(
  sql: Sql,
  before: string | undefined,
  limit: number,
): Promise<AuditRow[]> {
  return sql.query(page, [before ?? null, limit]);
}
