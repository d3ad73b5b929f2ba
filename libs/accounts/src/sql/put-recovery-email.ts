import { type Sql, statement } from '@relayger/kernel';

const put = statement(
  'accounts_put_recovery_email',
  `INSERT INTO recovery_emails (identity_id, address) VALUES ($1, $2)
   ON CONFLICT (identity_id) DO UPDATE SET address = excluded.address, verified_at = now()`,
);

/** Makes an address the verified one of an identity; the caller holds its credentials locked. */
export async function putRecoveryEmail(
  sql: Sql,
  identityId: string,
  address: string,
): Promise<void> {
  await sql.query(put, [identityId, address]);
}
