import { type Sql, statement } from '@relayger/kernel';

const hold = statement(
  'accounts_hold_credential',
  'SELECT FROM credentials WHERE identity_id = $1 FOR UPDATE',
);

/** Takes the credentials row like `lockCredential`, of a disabled identity too. */
export async function holdCredential(sql: Sql, identityId: string): Promise<void> {
  await sql.query(hold, [identityId]);
}
