import { type Sql, statement } from '@relayger/kernel';

const isOf = statement(
  'accounts_is_token_of',
  `SELECT 1 FROM access_tokens WHERE id = $1 AND identity_id = $2`,
);

/** Whether a token, open or not, is of this identity. */
export async function isTokenOf(sql: Sql, tokenId: string, identityId: string): Promise<boolean> {
  return (await sql.query(isOf, [tokenId, identityId])).length === 1;
}
