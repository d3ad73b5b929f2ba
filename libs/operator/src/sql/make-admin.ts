import { type Sql, statement } from '@relayger/kernel';

const make = statement(
  'operator_make_admin',
  `UPDATE identities SET role = 'admin' WHERE id = $1 AND kind = 'human'`,
);

/** Gives a person the role of an administrator. The only statement that does. */
export async function makeAdmin(sql: Sql, identityId: string): Promise<void> {
  await sql.query(make, [identityId]);
}
