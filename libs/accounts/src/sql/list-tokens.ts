import { type Sql, statement } from '@relayger/kernel';
import type { Scope } from '@relayger/protocol';

export interface TokenRow {
  id: string;
  scopes: Scope[];
  roomIds: string[] | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date;
}

const list = statement<TokenRow>(
  'accounts_list_tokens',
  `SELECT id, scopes, CASE WHEN room_restricted THEN room_ids END AS "roomIds",
          created_at AS "createdAt", last_used_at AS "lastUsedAt", expires_at AS "expiresAt"
     FROM access_tokens WHERE identity_id = $1 AND revoked_at IS NULL AND expires_at > now()
    ORDER BY created_at DESC, id DESC`,
);

/** The open tokens of an identity with what they grant, the newest first. */
export function listTokens(sql: Sql, identityId: string): Promise<TokenRow[]> {
  return sql.query(list, [identityId]);
}
