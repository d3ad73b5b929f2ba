import { type Sql, statement } from '@relayger/kernel';

export interface CounterRow {
  key: Buffer;
  count: number;
  /** Seconds until the window ends. */
  endsIn: number;
}

const read = statement<CounterRow>(
  'accounts_read_counters',
  `SELECT key, count, ceil(extract(epoch FROM ends_at - now()))::int AS "endsIn"
     FROM limit_counters WHERE key = ANY($1::bytea[]) AND ends_at > now()`,
);

/** The counters among these whose window is open. */
export function readCounters(sql: Sql, keys: readonly Buffer[]): Promise<CounterRow[]> {
  return sql.query(read, [keys]);
}
