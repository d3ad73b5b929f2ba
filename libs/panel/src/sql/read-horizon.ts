import { type Sql, statement } from '@relayger/kernel';

/**
 * Records carry the time at which they were written and become visible when their transaction commits, so one can
 * appear behind others that are later. What is older than every transaction that may still be writing is complete.
 *
 * A statement of its own, before the one that reads: whatever is no longer under way here is visible to it. Rows are
 * stamped with clock_timestamp() at their insert or update, hence a transaction that has had no number for ten seconds
 * only reads (a backup does for hours) and none of the service's lasts a minute: neither may hold the feed up. Times
 * are stored rounded to milliseconds, so the horizon is rounded down and excluded. A server whose processes use
 * several database roles sees less than all transactions.
 */
const readHorizon = statement<{ at: Date }>(
  'panel_read_horizon',
  `SELECT date_trunc('milliseconds', greatest(statement_timestamp() - interval '1 minute',
            least(statement_timestamp(), min(xact_start)))) AS at
     FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      AND (backend_xid IS NOT NULL OR xact_start > statement_timestamp() - interval '10 seconds')`,
);

/** Before this instant nothing is added to the records of anybody. */
export async function readHorizonTime(sql: Sql): Promise<Date> {
  const [row] = await sql.query(readHorizon, []);
  if (!row) throw new Error('an aggregate has a row');
  return row.at;
}
