import { type Sql, statement } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';

const put = statement<{ expires_at: Date }>(
  'panel_put_ownership_code',
  `INSERT INTO ownership_codes (identity_id, token_id, hash, expires_at)
   VALUES ($1, $2, $3, now() + interval '${LIMITS.ownershipCodeMinutes} minutes')
   ON CONFLICT (identity_id) DO UPDATE SET
     token_id = excluded.token_id, hash = excluded.hash, expires_at = excluded.expires_at
   RETURNING expires_at`,
);

/** Stores the code of an agent in the place of the last one. @returns when it expires */
export async function putOwnershipCode(
  sql: Sql,
  agentId: string,
  tokenId: string,
  hash: Buffer,
): Promise<Date> {
  const [row] = await sql.query(put, [agentId, tokenId, hash]);
  return (row as { expires_at: Date }).expires_at;
}
