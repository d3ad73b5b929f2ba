import { type Sql, statement } from '@relayger/kernel';

// ends_at belongs to the condition: what was counted in a window that is over must not be taken from the next.
// The inner ORDER BY … FOR UPDATE takes the rows in the order in which raise-counters takes them.
const lower = statement(
  'accounts_lower_counters',
  `UPDATE limit_counters SET count = count - 1
    WHERE key IN (SELECT key FROM limit_counters
                   WHERE (key, ends_at) IN (SELECT * FROM unnest($1::bytea[], $2::timestamptz[]))
                   ORDER BY key FOR UPDATE)`,
);

/** Takes back one in each of these counters, as far as their windows are still the same. */
export async function lowerCounters(
  sql: Sql,
  keys: readonly Buffer[],
  endsAt: readonly Date[],
): Promise<void> {
  await sql.query(lower, [keys, endsAt]);
}
