import { type Sql, statement } from '@relayger/kernel';
import type { TokenRow } from './list-tokens.js';

export interface PagedToken extends TokenRow {
  identityId: string;
}

// Ids are version 7 UUIDs, so their order is the order in which the tokens were opened.
const page = statement<PagedToken>(
  'accounts_page_tokens',
  `SELECT id, identity_id AS "identityId", scopes, CASE WHEN room_restricted THEN room_ids END AS "roomIds",
          created_at AS "createdAt", last_used_at AS "lastUsedAt", expires_at AS "expiresAt"
     FROM access_tokens
    WHERE revoked_at IS NULL AND expires_at > now()
      AND ($1::uuid IS NULL OR identity_id = $1) AND ($2::uuid IS NULL OR id < $2)
    ORDER BY id DESC LIMIT $3`,
);

/** Which of the open tokens. */
export interface TokenPage {
  identityId?: string | undefined;
  before?: string | undefined;
  limit: number;
}

/** Open tokens of the server, the newest first. */
export function pageTokens(
  sql: Sql,
  { identityId, before, limit }: TokenPage,
): Promise<PagedToken[]> {
  return sql.query(page, [identityId ?? null, before ?? null, limit]);
}
