import { type Sql, statement } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';

export interface AttemptsRow {
  /** Null for all agents together. */
  agentId: string | null;
  total: number;
  handled: number;
  skipped: number;
  failed: number;
  unfinished: number;
  unreported: number;
  modelCalls: string;
  inputTokens: string;
  outputTokens: string;
  /** Milliseconds from claim to finish; null when nothing was finished. */
  median: number | null;
  p95: number | null;
}

// Ranges of runtime_attempts_runtime_id_claimed_at_idx, which end early. A median of all agents does not follow from
// those of each, hence the grouping sets.
const count = statement<AttemptsRow>(
  'panel_count_attempts',
  `SELECT id AS "agentId", count(*)::int AS total,
          (count(*) FILTER (WHERE outcome = 'handled'))::int AS handled,
          (count(*) FILTER (WHERE outcome = 'skipped'))::int AS skipped,
          (count(*) FILTER (WHERE outcome = 'failed'))::int AS failed,
          (count(*) FILTER (WHERE outcome IS NULL))::int AS unfinished,
          (count(*) FILTER (WHERE outcome IS NOT NULL AND model_calls IS NULL))::int AS unreported,
          coalesce(sum(model_calls), 0) AS "modelCalls", coalesce(sum(input_tokens), 0) AS "inputTokens",
          coalesce(sum(output_tokens), 0) AS "outputTokens",
          percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS median,
          percentile_cont(0.95) WITHIN GROUP (ORDER BY ms) AS p95
     FROM (
       SELECT agent.id, newest.* FROM unnest($1::uuid[]) AS agent(id) CROSS JOIN LATERAL (
         SELECT a.* FROM runtimes r CROSS JOIN LATERAL (
           SELECT outcome, model_calls, input_tokens, output_tokens,
                  (extract(epoch FROM finished_at - claimed_at) * 1000)::float8 AS ms
             FROM runtime_attempts
            WHERE runtime_id = r.id AND claimed_at >= now() - interval '${LIMITS.monitoringDays} days'
            LIMIT ${LIMITS.monitoringCounted}) a
          WHERE r.identity_id = agent.id AND ($2::uuid IS NULL OR r.id = $2)
          LIMIT ${LIMITS.monitoringCounted}) newest
     ) AS attempt
    GROUP BY GROUPING SETS ((id), ())`,
);

/**
 * What runtimes did in the days that monitoring covers: a row for each agent that has claimed something, and one for
 * all of them.
 * @param runtimeId only of this runtime
 */
export function countAttempts(
  sql: Sql,
  agentIds: readonly string[],
  runtimeId?: string,
): Promise<AttemptsRow[]> {
  return sql.query(count, [agentIds, runtimeId ?? null]);
}
