import { type Sql, statement } from '@relayger/kernel';
import type { Credential } from './lock-credential.js';

const update = statement(
  'accounts_update_credential',
  `UPDATE credentials SET password_hash = coalesce($2, password_hash),
          recovery_key_hash = coalesce($3, recovery_key_hash), updated_at = now()
    WHERE identity_id = $1`,
);

/** Replaces the secrets that are given; the caller holds the row locked. */
export async function updateCredential(
  sql: Sql,
  identityId: string,
  { passwordHash = null, recoveryKeyHash = null }: Partial<Credential>,
): Promise<void> {
  await sql.query(update, [identityId, passwordHash, recoveryKeyHash]);
}
