import { type Sql, statement } from '@relayger/kernel';

export interface CodeRequest {
  id: string;
  purpose: 'recovery' | 'sign_in';
  /** Sealed: a number for a recovery, an address for a sign-in. */
  subject: Buffer;
}

const insert = statement(
  'accounts_insert_code_request',
  `INSERT INTO code_requests (id, purpose, subject, due_at)
   VALUES ($1, $2, $3, now() + $4 * interval '1 ms')`,
);

/** Stores a request for a code, to be looked at after `delayMs`. The same for every number: nothing is looked up. */
export async function insertCodeRequest(
  sql: Sql,
  { id, purpose, subject }: CodeRequest,
  delayMs: number,
): Promise<void> {
  await sql.query(insert, [id, purpose, subject, delayMs]);
}
