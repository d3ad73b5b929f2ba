import { type Sql, statement } from '@relayger/kernel';

const secured = statement(
  'accounts_is_secured',
  `SELECT 1 WHERE EXISTS (SELECT FROM credentials WHERE identity_id = $1 AND password_hash IS NOT NULL)
      OR EXISTS (SELECT FROM recovery_emails WHERE identity_id = $1)`,
);

/** Whether more than a token gets into an account: a password, or an address that was verified. */
export async function isSecured(sql: Sql, identityId: string): Promise<boolean> {
  return (await sql.query(secured, [identityId])).length === 1;
}
