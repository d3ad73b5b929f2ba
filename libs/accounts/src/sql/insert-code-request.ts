import { type Sql, statement } from '@relayger/kernel';

export interface CodeRequest {
  id: string;
  purpose: 'recovery';
  /** Sealed. */
  subject: Buffer;
}

const insert = statement(
  'accounts_insert_code_request',
  `INSERT INTO code_requests (id, purpose, subject) VALUES ($1, $2, $3)`,
);

/** Stores a request for a code. The same for every number: nothing is looked up here. */
export async function insertCodeRequest(sql: Sql, request: CodeRequest): Promise<void> {
  await sql.query(insert, [request.id, request.purpose, request.subject]);
}
