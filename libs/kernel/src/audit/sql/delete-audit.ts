import { type Sql, statement } from '../../database/sql.js';

/** Records a run; the next run follows at once while there are as many. */
const BATCH = 5_000;

// SKIP LOCKED: several processes sweep at the same time.
const remove = statement<{ deleted: number }>(
  'kernel_delete_audit',
  `WITH deleted AS (
     DELETE FROM audit_log WHERE id IN (
       SELECT id FROM audit_log WHERE created_at < now() - make_interval(days => $1)
       ORDER BY created_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
     RETURNING 1)
   SELECT count(*)::int AS deleted FROM deleted`,
);

/** Deletes records older than so many days; true when there may be more. */
export async function deleteOldAudit(sql: Sql, days: number): Promise<boolean> {
  const [row] = await sql.query(remove, [days]);
  return row?.deleted === BATCH;
}
