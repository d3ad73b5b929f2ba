import { type Sql, statement } from '@relayger/kernel';
import type { CounterRow } from './read-counters.js';

export interface RaisedRow extends CounterRow {
  endsAt: Date;
}

// ON CONFLICT DO UPDATE waits for the row and then works on its newest version, so of any number of concurrent
// attempts each sees a count of its own. ORDER BY: all transactions take these rows in one order, so that two
// attempts that share several counters cannot deadlock.
const raise = statement<RaisedRow>(
  'accounts_raise_counters',
  `INSERT INTO limit_counters AS c (key, count, ends_at)
   SELECT key, 1, now() + make_interval(secs => seconds)
     FROM unnest($1::bytea[], $2::int[]) AS asked(key, seconds) ORDER BY key
   ON CONFLICT (key) DO UPDATE SET
     count = CASE WHEN c.ends_at <= now() THEN 1 ELSE c.count + 1 END,
     ends_at = CASE WHEN c.ends_at <= now() THEN excluded.ends_at ELSE c.ends_at END
   RETURNING key, count, ends_at AS "endsAt", ceil(extract(epoch FROM ends_at - now()))::int AS "endsIn"`,
);

/**
 * Counts one in each of these counters; one whose window has ended starts a new one. The rows stay locked until
 * the transaction ends.
 */
export function raiseCounters(
  sql: Sql,
  keys: readonly Buffer[],
  seconds: readonly number[],
): Promise<RaisedRow[]> {
  return sql.query(raise, [keys, seconds]);
}
