import { type Sql, statement } from '@relayger/kernel';
import { LIMITS, type Runtime, type TaskMetadata } from '@relayger/protocol';

/** A task without any of its texts. */
export interface TaskMetadataRow
  extends Omit<TaskMetadata, 'leaseUntil' | 'deadline' | 'createdAt' | 'updatedAt' | 'finishedAt'> {
  leaseUntil: Date | null;
  deadline: Date | null;
  createdAt: Date;
  updatedAt: Date;
  finishedAt: Date | null;
}

const selectTask = statement<TaskMetadataRow>(
  'panel_find_task',
  `SELECT id, room_id AS "roomId", creator_id AS "creatorId", assignee_id AS "assigneeId",
          parent_id AS "parentTaskId", root_id AS "rootTaskId", depth, input ->> 'operation' AS operation, state,
          version, attempts, (progress ->> 'percent')::float8 AS percent,
          CASE WHEN state IN ('running', 'waiting_approval') THEN lease_until END AS "leaseUntil", deadline,
          created_at AS "createdAt", updated_at AS "updatedAt", finished_at AS "finishedAt"
     FROM tasks WHERE id = $2 AND assignee_id = $1`,
);

/** A task that is assigned to an agent. */
export async function findTask(
  sql: Sql,
  agentId: string,
  id: string,
): Promise<TaskMetadataRow | null> {
  return (await sql.query(selectTask, [agentId, id]))[0] ?? null;
}

/** A runtime with how many of its newest jobs are in which state. */
export interface RuntimeMetadataRow extends Omit<Runtime, 'createdAt' | 'policy'> {
  triggers: Runtime['policy']['triggers'];
  allowedSenders: string[];
  allowedRooms: string[];
  maxAttempts: number;
  maxCallsPerHour: number;
  concurrency: number;
  activeHoursUTC: number[];
  createdAt: Date;
  /** A decimal string. */
  claims: string;
  pending: number;
  leased: number;
  handled: number;
  skipped: number;
  deadLetter: number;
}

// A lease that has ended is work again, also before somebody notices; the same for jobs that nobody can take any more.
const STATE = `CASE
  WHEN d.state NOT IN ('pending', 'leased') OR (d.state = 'leased' AND d.due_at > now()) THEN d.state
  WHEN d.attempts >= r.max_attempts THEN 'dead_letter'
  WHEN d.expires_at <= now() THEN 'skipped'
  ELSE 'pending' END`;

// The jobs are the end of one range of runtime_deliveries_runtime_id_position_idx.
const selectRuntime = statement<RuntimeMetadataRow>(
  'panel_find_runtime',
  `SELECT r.id, r.name, r.start AS "from", r.triggers, r.allowed_senders AS "allowedSenders",
          r.allowed_rooms AS "allowedRooms", r.max_attempts AS "maxAttempts",
          r.max_calls_per_hour AS "maxCallsPerHour", r.concurrency, r.active_hours AS "activeHoursUTC", r.version,
          r.created_at AS "createdAt", r.claims, jobs.*
     FROM runtimes r CROSS JOIN LATERAL (
       SELECT (count(*) FILTER (WHERE state = 'pending'))::int AS pending,
              (count(*) FILTER (WHERE state = 'leased'))::int AS leased,
              (count(*) FILTER (WHERE state = 'handled'))::int AS handled,
              (count(*) FILTER (WHERE state = 'skipped'))::int AS skipped,
              (count(*) FILTER (WHERE state = 'dead_letter'))::int AS "deadLetter"
         FROM (SELECT ${STATE} AS state FROM runtime_deliveries d
                WHERE d.runtime_id = r.id ORDER BY d.position DESC LIMIT ${LIMITS.monitoringCounted}) job
     ) jobs
    WHERE r.id = $2 AND r.identity_id = $1`,
);

/** A runtime of an agent. */
export async function findRuntime(
  sql: Sql,
  agentId: string,
  id: string,
): Promise<RuntimeMetadataRow | null> {
  return (await sql.query(selectRuntime, [agentId, id]))[0] ?? null;
}
