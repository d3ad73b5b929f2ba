import { type Sql, statement } from '@relayger/kernel';

export interface TokenSummary {
  identityId: string;
  open: number;
  lastUsedAt: Date | null;
}

const summarize = statement<TokenSummary>(
  'accounts_summarize_tokens',
  `SELECT identity_id AS "identityId",
          (count(*) FILTER (WHERE revoked_at IS NULL AND expires_at > now()))::int AS open,
          max(last_used_at) AS "lastUsedAt"
     FROM access_tokens WHERE identity_id = ANY($1::uuid[]) GROUP BY identity_id`,
);

/** How many tokens are open and when one was last used, for those of the identities that ever had one. */
export function summarizeTokens(sql: Sql, identityIds: readonly string[]): Promise<TokenSummary[]> {
  return sql.query(summarize, [identityIds]);
}
