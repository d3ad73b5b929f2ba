import { type Sql, statement } from '@relayger/kernel';

const revoke = statement<{ id: string }>(
  'accounts_revoke_tokens',
  `UPDATE access_tokens SET revoked_at = now()
    WHERE identity_id = $1 AND revoked_at IS NULL AND expires_at > now()
      AND ($2::uuid IS NULL OR id = $2) AND ($3::uuid IS NULL OR id <> $3)
   RETURNING id`,
);

/** Which tokens of an identity: all of them unless narrowed down. */
export interface TokenChoice {
  only?: string;
  except?: string;
}

/** Closes open tokens of an identity. @returns how many */
export async function revokeTokens(
  sql: Sql,
  identityId: string,
  { only, except }: TokenChoice = {},
): Promise<number> {
  return (await sql.query(revoke, [identityId, only ?? null, except ?? null])).length;
}
