import { type Sql, statement } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';
import { SAID } from './said.js';

export interface WorkRow {
  agentId: string;
  /** One of its open tokens was used just now. */
  active: boolean;
  openTasks: number;
  completed: number;
  failed: number;
  cancelled: number;
  messages: number;
}

const WINDOW = `now() - interval '${LIMITS.monitoringDays} days'`;
const LIMIT = `LIMIT ${LIMITS.monitoringCounted}`;

// Each count is one index range of one agent, and ends early: nobody can make this slow. In their order:
// access_tokens_identity_id_created_at_idx, tasks_queued_idx, tasks_held_idx, tasks_finished_idx, messages_said_idx.
// The use of a token is noted once a minute, so two of them tell who is there.
const count = statement<WorkRow>(
  'panel_count_work',
  `SELECT agent.id AS "agentId",
          EXISTS (SELECT FROM access_tokens
                   WHERE identity_id = agent.id AND revoked_at IS NULL AND expires_at > now()
                     AND last_used_at > now() - interval '2 minutes') AS active,
          least(queued.count + held.count, ${LIMITS.monitoringCounted})::int AS "openTasks",
          results.completed, results.failed, results.cancelled, said.count AS messages
     FROM unnest($1::uuid[]) AS agent(id)
     CROSS JOIN LATERAL (
       SELECT count(*) FROM (
         SELECT FROM tasks WHERE assignee_id = agent.id AND state = 'queued' ${LIMIT}) t) AS queued
     CROSS JOIN LATERAL (
       SELECT count(*) FROM (
         SELECT FROM tasks
          WHERE assignee_id = agent.id AND state IN ('running', 'waiting_approval') ${LIMIT}) t) AS held
     CROSS JOIN LATERAL (
       SELECT (count(*) FILTER (WHERE state = 'completed'))::int AS completed,
              (count(*) FILTER (WHERE state = 'failed'))::int AS failed,
              (count(*) FILTER (WHERE state = 'cancelled'))::int AS cancelled
         FROM (SELECT state FROM tasks
                WHERE assignee_id = agent.id AND finished_at >= ${WINDOW} ${LIMIT}) t) AS results
     CROSS JOIN LATERAL (
       SELECT count(*)::int FROM (
         SELECT FROM messages x
          WHERE x.sender_id = agent.id AND ${SAID} AND x.created_at >= ${WINDOW} ${LIMIT}) m) AS said`,
);

/** What agents have to do, and did in the days that monitoring covers; a row an agent. */
export function countWork(sql: Sql, agentIds: readonly string[]): Promise<WorkRow[]> {
  return sql.query(count, [agentIds]);
}
