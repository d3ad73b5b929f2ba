import { type Sql, statement } from '@relayger/kernel';

const isOpen = statement(
  'accounts_is_token_open',
  `SELECT 1 FROM access_tokens WHERE id = $1 AND revoked_at IS NULL AND expires_at > now()`,
);

/** Whether a token that was open when its request began still is. */
export async function isTokenOpen(sql: Sql, tokenId: string): Promise<boolean> {
  return (await sql.query(isOpen, [tokenId])).length === 1;
}
