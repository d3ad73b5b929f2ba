import { statement, type Transaction } from '@relayger/kernel';
import {
  type Hit,
  milliseconds,
  QUERY,
  SENDER,
  type SearchTerms,
  TIME,
  termValues,
} from './search-terms.js';

/** More than this are not sorted: walking finds the newest of so many sooner. */
const MANY = 10_000;
/** In ms; the words of no search are worth more. */
const TIMEOUT = '2000';

// The index to use depends on how often these very words and this sender occur, which PostgreSQL has statistics of: so
// it plans every time, among plans that start from an index, and for a table that is in memory (a cost of 4 a page has
// it read the key of every message in a thousand rooms, 60 ms, to spare 3,000 pages, 10 ms). The settings end with the
// transaction; no other statement may run under them, since its plan would be kept.
const planForIndex = statement(
  'messages_search_settings',
  `SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true),
          set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true),
          set_config('random_page_cost', '1.1', true),
          set_config('max_parallel_workers_per_gather', '0', true), set_config('statement_timeout', $1, true)`,
);

// An index on words knows nothing of time: it gives all that match, in any order, to be sorted. So this is for words
// that are rare. The time is looked at behind the limit, which bounds what is read and not what is left of it.
const searchIndex = statement<{ found: number; hits: Hit[] | null }>(
  'messages_search_index',
  `WITH found AS MATERIALIZED (
     SELECT room_id, seq, created_at FROM messages
     WHERE room_id = ANY ($6::uuid[]) AND search @@ ${QUERY} AND ${SENDER}
     LIMIT ${MANY}
   ),
   newest AS (
     SELECT room_id, seq, created_at FROM found
     WHERE ${TIME}
     ORDER BY created_at DESC, seq DESC LIMIT $7
   )
   SELECT (SELECT count(*) FROM found)::int AS found,
          json_agg(json_build_object('room', room_id, 'seq', seq::text, 'at', ${milliseconds('created_at')})) AS hits
   FROM newest`,
);

/**
 * The newest of all that the index finds; null when it finds too much. Its transaction is for nothing else.
 */
export async function selectFromIndex(
  sql: Transaction,
  terms: SearchTerms,
  rooms: readonly string[],
  limit: number,
): Promise<Hit[] | null> {
  await sql.query(planForIndex, [TIMEOUT]);
  const [row] = await sql.query(searchIndex, [...termValues(terms), rooms, limit]);
  return row && row.found < MANY ? (row.hits ?? []) : null;
}
