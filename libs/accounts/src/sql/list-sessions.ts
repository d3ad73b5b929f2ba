import { type Sql, statement } from '@relayger/kernel';

export interface SessionRow {
  id: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date;
}

// The database clock decides what is open, as it does for authentication.
const list = statement<SessionRow>(
  'accounts_list_sessions',
  `SELECT id, created_at AS "createdAt", last_used_at AS "lastUsedAt", expires_at AS "expiresAt"
     FROM access_tokens WHERE identity_id = $1 AND revoked_at IS NULL AND expires_at > now()
    ORDER BY created_at DESC, id DESC`,
);

/** The open tokens of an identity, the newest first. */
export function listSessions(sql: Sql, identityId: string): Promise<SessionRow[]> {
  return sql.query(list, [identityId]);
}
