import { type Sql, statement } from '@relayger/kernel';
import type { Credential } from './lock-credential.js';

export interface Account extends Credential {
  identityId: string;
  number: string;
  handle: string;
}

const find = statement<Account>(
  'accounts_find_account',
  `SELECT i.id AS "identityId", i.number, i.handle,
          c.password_hash AS "passwordHash", c.recovery_key_hash AS "recoveryKeyHash"
     FROM identities i JOIN credentials c ON c.identity_id = i.id
    WHERE i.number = $1 AND i.kind <> 'human' AND i.disabled_at IS NULL`,
);

/** What a secret given for a number is checked against; null for a number that cannot get in by one. */
export async function findAccount(sql: Sql, number: string): Promise<Account | null> {
  const [row] = await sql.query(find, [number]);
  return row ?? null;
}
