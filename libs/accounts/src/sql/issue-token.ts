import { type Sql, statement } from '@relayger/kernel';
import { LIMITS, type Scope } from '@relayger/protocol';

export interface NewIssuedToken {
  id: string;
  identityId: string;
  hash: Buffer;
  scopes: readonly Scope[];
  roomIds: readonly string[] | null;
  /** Seconds from now. */
  expiresIn?: number | undefined;
  /** Not later than this. At least one of the two is given. */
  until?: Date | undefined;
}

// least() leaves out what is null.
const insert = statement<{ expiresAt: Date }>(
  'accounts_issue_token',
  `INSERT INTO access_tokens (id, identity_id, hash, scopes, room_restricted, room_ids, created_at, expires_at)
   SELECT $1, $2, $3, $4, $5::uuid[] IS NOT NULL, coalesce($5, '{}'), clock_timestamp(),
          least(now() + make_interval(secs => $6), $7::timestamptz)
    WHERE (SELECT count(*) FROM access_tokens
            WHERE identity_id = $2 AND revoked_at IS NULL AND expires_at > now()) < ${LIMITS.openTokens}
   RETURNING expires_at AS "expiresAt"`,
);

/**
 * Stores a token that somebody issues to an identity. Unlike a sign-in it closes no other: whoever manages tokens
 * sees them and says which one may go. The caller holds the identity's credentials locked, so that parallel calls
 * cannot pass the limit.
 * @returns when it expires; null when as many tokens are open as may be
 */
export async function insertIssuedToken(sql: Sql, token: NewIssuedToken): Promise<Date | null> {
  const { id, identityId, hash, scopes, roomIds, expiresIn = null, until = null } = token;
  const values = [id, identityId, hash, scopes, roomIds, expiresIn, until];
  const [row] = await sql.query(insert, values);
  return row?.expiresAt ?? null;
}
