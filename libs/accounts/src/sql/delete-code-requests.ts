import { type Sql, statement } from '@relayger/kernel';

const remove = statement<{ deleted: number }>(
  'accounts_delete_code_requests',
  `WITH deleted AS (DELETE FROM code_requests WHERE due_at <= now() - interval '1 hour' RETURNING 1)
   SELECT count(*)::int AS deleted FROM deleted`,
);

/** Deletes requests that nobody waits for any longer: they came before mail was switched off. */
export async function deleteOldCodeRequests(sql: Sql): Promise<number> {
  const [row] = await sql.query(remove, []);
  return row?.deleted ?? 0;
}
