import { type Sql, statement } from '@relayger/kernel';

/** The verified address of an account, with what a mail to it names. */
export interface RecoveryEmail {
  address: string;
  number: string;
  handle: string;
}

const find = statement<RecoveryEmail>(
  'accounts_find_recovery_email',
  `SELECT e.address, i.number, i.handle
     FROM recovery_emails e JOIN identities i ON i.id = e.identity_id
    WHERE e.identity_id = $1`,
);

/** The verified recovery address of an identity, if it has one. */
export async function findRecoveryEmail(
  sql: Sql,
  identityId: string,
): Promise<RecoveryEmail | null> {
  const [row] = await sql.query(find, [identityId]);
  return row ?? null;
}
