import { type Sql, statement } from '@relayger/kernel';

const remove = statement(
  'accounts_delete_recovery_email',
  `DELETE FROM recovery_emails WHERE identity_id = $1`,
);

/** Leaves an identity without a recovery address; the caller holds its credentials locked. */
export async function deleteRecoveryEmail(sql: Sql, identityId: string): Promise<void> {
  await sql.query(remove, [identityId]);
}
