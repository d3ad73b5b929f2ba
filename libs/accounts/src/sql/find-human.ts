import { type Sql, statement } from '@relayger/kernel';
import type { Account } from './find-account.js';

const find = statement<Account>(
  'accounts_find_human',
  `SELECT i.id AS "identityId", i.number, i.handle,
          c.password_hash AS "passwordHash", c.recovery_key_hash AS "recoveryKeyHash"
     FROM human_emails e
     JOIN identities i ON i.id = e.identity_id
     JOIN credentials c ON c.identity_id = e.identity_id
    WHERE e.address = $1 AND i.disabled_at IS NULL`,
);

/** What a secret given for an address is checked against; null for an address that lets nobody in. */
export async function findHuman(sql: Sql, address: string): Promise<Account | null> {
  const [row] = await sql.query(find, [address]);
  return row ?? null;
}
