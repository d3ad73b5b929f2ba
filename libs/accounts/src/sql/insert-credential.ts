import { type Sql, statement } from '@relayger/kernel';
import type { Credential } from './lock-credential.js';

const insert = statement(
  'accounts_insert_credential',
  `INSERT INTO credentials (identity_id, password_hash, recovery_key_hash) VALUES ($1, $2, $3)`,
);

/** Stores how a new identity gets in. */
export async function insertCredential(
  sql: Sql,
  identityId: string,
  { passwordHash, recoveryKeyHash }: Credential,
): Promise<void> {
  await sql.query(insert, [identityId, passwordHash, recoveryKeyHash]);
}
