import { type Sql, statement } from '@relayger/kernel';

// Reads the whole table while there is no administrator, which is when it is empty.
const hasAdmin = statement<{ found: boolean }>(
  'accounts_has_admin',
  `SELECT EXISTS (SELECT FROM identities WHERE role = 'admin') AS found`,
);

/** Whether the operator has made an administrator. */
export async function hasAdministrator(sql: Sql): Promise<boolean> {
  const [row] = await sql.query(hasAdmin, []);
  return row?.found ?? false;
}
