import { type Sql, statement } from '@relayger/kernel';

const remove = statement<{ deleted: number }>(
  'accounts_delete_web_sessions',
  `WITH deleted AS (DELETE FROM web_sessions WHERE expires_at <= now() RETURNING 1)
   SELECT count(*)::int AS deleted FROM deleted`,
);

/** Deletes web sessions that have expired. */
export async function deleteExpiredWebSessions(sql: Sql): Promise<number> {
  const [row] = await sql.query(remove, []);
  return row?.deleted ?? 0;
}
