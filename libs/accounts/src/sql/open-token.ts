import { type Sql, statement } from '@relayger/kernel';
import { LIMITS, type Scope } from '@relayger/protocol';

export interface NewToken {
  id: string;
  identityId: string;
  hash: Buffer;
  scopes: readonly Scope[];
}

// clock_timestamp() and not now(): transactions that waited for the identity's lock began before the one they
// waited for, and the order of created_at is the order in which sessions are closed.
const insertToken = statement<{ expiresAt: Date }>(
  'accounts_open_token',
  `WITH closed AS (
     UPDATE access_tokens SET revoked_at = now()
      WHERE id IN (SELECT id FROM access_tokens
                    WHERE identity_id = $2 AND revoked_at IS NULL AND expires_at > now()
                    ORDER BY created_at DESC, id DESC OFFSET ${LIMITS.openTokens - 1})
   )
   INSERT INTO access_tokens (id, identity_id, hash, scopes, created_at, expires_at)
   VALUES ($1, $2, $3, $4, clock_timestamp(), now() + interval '${LIMITS.tokenDays} days')
   RETURNING expires_at AS "expiresAt"`,
);

/**
 * Opens a token and closes the oldest ones beyond the cap. The caller holds the identity's credentials row
 * locked, or has just created the identity; without it two sign-ins could both count the same 19 tokens.
 * @returns when it expires
 */
export async function openToken(sql: Sql, token: NewToken): Promise<Date> {
  const rows = await sql.query(insertToken, [token.id, token.identityId, token.hash, token.scopes]);
  return (rows[0] as { expiresAt: Date }).expiresAt;
}
