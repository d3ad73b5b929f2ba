import { type Sql, statement } from '@relayger/kernel';
import { LIMITS, type Scope } from '@relayger/protocol';

export interface NewToken {
  id: string;
  identityId: string;
  hash: Buffer;
  scopes: readonly Scope[];
  roomIds: readonly string[] | null;
}

export interface OpenedToken {
  expiresAt: Date;
  /** Whether older ones were closed. */
  closed: boolean;
}

// clock_timestamp() and not now(): transactions that waited for the identity's lock began before the one they
// waited for, and the order of created_at is the order in which sessions are closed.
const insertToken = statement<OpenedToken>(
  'accounts_open_token',
  `WITH closed AS (
     UPDATE access_tokens SET revoked_at = now()
      WHERE id IN (SELECT id FROM access_tokens
                    WHERE identity_id = $2 AND revoked_at IS NULL AND expires_at > now()
                    ORDER BY created_at DESC, id DESC OFFSET ${LIMITS.openTokens - 1})
     RETURNING id
   )
   INSERT INTO access_tokens (id, identity_id, hash, scopes, room_restricted, room_ids, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5::uuid[] IS NOT NULL, coalesce($5, '{}'), clock_timestamp(), now() + interval '${LIMITS.tokenDays} days')
   RETURNING expires_at AS "expiresAt", EXISTS (SELECT FROM closed) AS closed`,
);

/**
 * Opens a token and closes the oldest ones beyond the cap. The caller holds the identity's credentials row
 * locked, or has just created the identity; without it two sign-ins could both count the same 19 tokens.
 */
export async function openToken(sql: Sql, token: NewToken): Promise<OpenedToken> {
  const { id, identityId, hash, scopes, roomIds } = token;
  const rows = await sql.query(insertToken, [id, identityId, hash, scopes, roomIds]);
  return rows[0] as OpenedToken;
}
