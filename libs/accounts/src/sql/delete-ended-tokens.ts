import { type Sql, statement } from '@relayger/kernel';

// A month after its end nobody asks any more which token that was. Its id stays in the audit log.
const remove = statement<{ deleted: number }>(
  'accounts_delete_ended_tokens',
  `WITH deleted AS (
     DELETE FROM access_tokens WHERE expires_at < now() - interval '30 days' RETURNING 1)
   SELECT count(*)::int AS deleted FROM deleted`,
);

/** Deletes tokens whose time ended a month ago; a revoked one stays until its time would have ended, too. */
export async function deleteEndedTokens(sql: Sql): Promise<number> {
  const [row] = await sql.query(remove, []);
  return row?.deleted ?? 0;
}
