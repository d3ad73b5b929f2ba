import { type Sql, statement } from '@relayger/kernel';

// SKIP LOCKED: a row that somebody counts in right now begins a new window and is not to be deleted.
const remove = statement<{ deleted: number }>(
  'accounts_delete_counters',
  `WITH deleted AS (
     DELETE FROM limit_counters
      WHERE key IN (SELECT key FROM limit_counters WHERE ends_at <= now() FOR UPDATE SKIP LOCKED)
      RETURNING 1)
   SELECT count(*)::int AS deleted FROM deleted`,
);

/** Deletes counters whose window has ended. */
export async function deleteEndedCounters(sql: Sql): Promise<number> {
  const [row] = await sql.query(remove, []);
  return row?.deleted ?? 0;
}
