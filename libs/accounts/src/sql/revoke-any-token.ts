import { type Sql, statement } from '@relayger/kernel';

const revoke = statement<{ identityId: string }>(
  'accounts_revoke_any_token',
  `UPDATE access_tokens SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1
   RETURNING identity_id AS "identityId"`,
);

/** Revokes a token of anybody; one that has ended stays ended. @returns whose it is, or null when there is none */
export async function revokeAnyToken(sql: Sql, tokenId: string): Promise<string | null> {
  const [row] = await sql.query(revoke, [tokenId]);
  return row?.identityId ?? null;
}
