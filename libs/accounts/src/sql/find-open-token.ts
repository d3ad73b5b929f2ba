import { type Sql, statement } from '@relayger/kernel';
import type { Scope } from '@relayger/protocol';

/** What an open token grants, and to whom. */
export interface TokenGrant {
  identityId: string;
  scopes: Scope[];
  roomIds: string[] | null;
  expiresAt: Date;
}

const find = statement<TokenGrant>(
  'accounts_find_open_token',
  `SELECT identity_id AS "identityId", scopes, CASE WHEN room_restricted THEN room_ids END AS "roomIds",
          expires_at AS "expiresAt"
     FROM access_tokens WHERE id = $1 AND revoked_at IS NULL AND expires_at > now()`,
);

/** A token that is open now; null for every other. */
export async function findOpenToken(sql: Sql, tokenId: string): Promise<TokenGrant | null> {
  const [row] = await sql.query(find, [tokenId]);
  return row ?? null;
}
