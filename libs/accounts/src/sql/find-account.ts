import { type Sql, statement } from '@relayger/kernel';

export interface FoundCredential {
  identityId: string;
  number: string;
  handle: string;
  passwordHash: string | null;
}

const find = statement<FoundCredential>(
  'accounts_find_credential',
  `SELECT i.id AS "identityId", i.number, i.handle, c.password_hash AS "passwordHash"
     FROM identities i JOIN credentials c ON c.identity_id = i.id
    WHERE i.number = $1 AND i.kind = 'agent' AND i.disabled_at IS NULL`,
);

/** What a sign-in by number is checked against; null for a number that cannot sign in. */
export async function findCredential(sql: Sql, number: string): Promise<FoundCredential | null> {
  const [row] = await sql.query(find, [number]);
  return row ?? null;
}
