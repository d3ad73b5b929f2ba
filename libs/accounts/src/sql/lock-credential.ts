import { type Sql, statement } from '@relayger/kernel';

export interface Credential {
  passwordHash: string | null;
  recoveryKeyHash: Buffer | null;
}

const lock = statement<Credential>(
  'accounts_lock_credential',
  `SELECT c.password_hash AS "passwordHash", c.recovery_key_hash AS "recoveryKeyHash"
     FROM credentials c JOIN identities i ON i.id = c.identity_id
    WHERE c.identity_id = $1 AND i.disabled_at IS NULL
      FOR UPDATE OF c`,
);

/**
 * Takes and reads the credentials row of an active identity. Whoever opens a session or changes a secret holds
 * it, and compares what was proven outside the transaction with what is in force: otherwise a session opened
 * with an old password could appear just after its change had ended all others, and two recoveries could use
 * one key. It also makes the sign-ins of one identity take turns, which the cap of open tokens needs.
 */
export async function lockCredential(sql: Sql, identityId: string): Promise<Credential | null> {
  const [row] = await sql.query(lock, [identityId]);
  return row ?? null;
}
