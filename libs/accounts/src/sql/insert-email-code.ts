import { type Sql, statement } from '@relayger/kernel';

/** What a code is for; one of one purpose is worth nothing for another. */
export type CodePurpose = 'verification' | 'recovery' | 'sign_in';

export interface NewEmailCode {
  id: string;
  identityId: string;
  purpose: CodePurpose;
  address: string;
  hash: Buffer;
  /** Seconds that it can be used. */
  usefulFor: number;
}

const insert = statement(
  'accounts_insert_email_code',
  `INSERT INTO email_codes (id, identity_id, purpose, address, hash, expires_at)
   VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`,
);

/** Stores a code that is being mailed. */
export async function insertEmailCode(sql: Sql, code: NewEmailCode): Promise<void> {
  const { id, identityId, purpose, address, hash, usefulFor } = code;
  await sql.query(insert, [id, identityId, purpose, address, hash, usefulFor]);
}
