import { type Sql, statement } from '@relayger/kernel';

const lock = statement(
  'accounts_lock_password',
  `SELECT 1 FROM credentials c JOIN identities i ON i.id = c.identity_id
    WHERE c.identity_id = $1 AND c.password_hash = $2 AND i.disabled_at IS NULL
      FOR UPDATE OF c`,
);

/**
 * Takes the credentials row, if the password that was checked outside the transaction is still the one in
 * force. The lock orders this sign-in against a password change and a recovery: without it, a session opened
 * with the old password could appear just after the change has ended all others. It also makes sign-ins of one
 * identity take turns, which the cap of open tokens needs.
 */
export async function lockPassword(
  sql: Sql,
  identityId: string,
  passwordHash: string,
): Promise<boolean> {
  return (await sql.query(lock, [identityId, passwordHash])).length === 1;
}
