import { type Sql, statement } from '@relayger/kernel';
import type { CodeRequest } from './insert-code-request.js';

// SKIP LOCKED: another process that is at the same takes the next one.
const take = statement<CodeRequest>(
  'accounts_take_code_request',
  `DELETE FROM code_requests
    WHERE id = (SELECT id FROM code_requests WHERE due_at <= now()
                 ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING id, purpose, subject`,
);

/** Takes the request that has been due the longest, if any; it is gone with the transaction that answers it. */
export async function takeCodeRequest(sql: Sql): Promise<CodeRequest | null> {
  const [row] = await sql.query(take, []);
  return row ?? null;
}
