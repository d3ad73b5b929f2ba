import { createHash } from 'node:crypto';
import type { Sql } from '@relayger/kernel';
import { lowerCounters } from './sql/lower-counters.js';
import { raiseCounters } from './sql/raise-counters.js';
import { type CounterRow, readCounters } from './sql/read-counters.js';

/** Something that may happen `limit` times in a window, which begins with the first time. */
export interface Counter {
  key: Buffer;
  limit: number;
  seconds: number;
}

/** What was counted, so that it can be taken back. */
export type Counted = readonly { key: Buffer; endsAt: Date }[];

/**
 * A counter for one subject.
 * @param subject what is counted and for whom, such as `['sign_in', 'client', '192.0.2.1']`; stored as a digest
 */
export function counter(subject: readonly string[], limit: number, seconds: number): Counter {
  const key = createHash('sha256').update(subject.join('\n')).digest();
  return { key, limit, seconds };
}

/** Seconds until the last of the counters that `isOver` frees up; null when there is none. */
function longestWait(
  rows: readonly CounterRow[],
  counters: readonly Counter[],
  isOver: (count: number, limit: number) => boolean,
): number | null {
  const over = rows.filter(({ key, count }) => {
    const asked = counters.find((candidate) => candidate.key.equals(key));
    return asked !== undefined && isOver(count, asked.limit);
  });
  return over.length > 0 ? Math.max(1, ...over.map(({ endsIn }) => endsIn)) : null;
}

/**
 * Whether one of the counters is used up: seconds to wait, or null. Reads only; whoever is refused here costs
 * no write and no lock.
 */
export async function usedUp(sql: Sql, counters: readonly Counter[]): Promise<number | null> {
  const rows = await readCounters(
    sql,
    counters.map(({ key }) => key),
  );
  return longestWait(rows, counters, (count, limit) => count >= limit);
}

/**
 * Counts one in each of the counters. When `retryAfter` is a number one of them was used up: the caller must
 * roll its transaction back, so that what is refused is counted nowhere.
 */
export async function countIn(
  sql: Sql,
  counters: readonly Counter[],
): Promise<{ counted: Counted; retryAfter: number | null }> {
  const rows = await raiseCounters(
    sql,
    counters.map(({ key }) => key),
    counters.map(({ seconds }) => seconds),
  );
  return {
    counted: rows,
    retryAfter: longestWait(rows, counters, (count, limit) => count > limit),
  };
}

/** Takes back what `countIn` counted. */
export async function takeBack(sql: Sql, counted: Counted): Promise<void> {
  if (counted.length === 0) return;
  await lowerCounters(
    sql,
    counted.map(({ key }) => key),
    counted.map(({ endsAt }) => endsAt),
  );
}
