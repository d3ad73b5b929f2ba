import { type Sql, statement } from '@relayger/kernel';
import type {
  ActivityKind,
  ActivityMessageType,
  ApprovalState,
  TaskInput,
  TaskState,
} from '@relayger/protocol';
import { SAID } from './said.js';

/** A place in a feed. Records are in the order of these three. */
export interface Position {
  /** Whole milliseconds, as stored. */
  at: Date;
  /** Of a task, message, job or approval. */
  id: string;
  /** Tells records with the same id apart; a decimal string. */
  nth: string;
}

interface TaskFields {
  kind: 'task';
  event: 'created' | 'finished';
  creatorId: string;
  parentTaskId: string | null;
  rootTaskId: string;
  operation: TaskInput['operation'];
  taskState: TaskState;
}

interface MessageFields {
  kind: 'message';
  event: 'sent';
  seq: string;
  type: ActivityMessageType;
}

interface AttemptFields {
  kind: 'runtime';
  event: 'claimed';
  runtimeId: string;
  messageId: string;
  outcome: 'handled' | 'skipped' | 'failed' | null;
  finishedAt: Date | null;
  modelCalls: string | null;
  inputTokens: string | null;
  outputTokens: string | null;
}

interface ApprovalFields {
  kind: 'approval';
  event: 'requested' | 'decided';
  taskId: string;
  approverId: string;
  approvalState: ApprovalState;
  expiresAt: Date;
}

/** One record; the fields of the other kinds are null in it. */
export type ActivityRow = Position & { agentId: string; roomId: string } & (
    | TaskFields
    | MessageFields
    | AttemptFields
    | ApprovalFields
  );

export interface ActivityAsk {
  agentIds: readonly string[];
  /** Only this kind; null for all. */
  kind: ActivityKind | null;
  limit: number;
}

/** Newest first below a position, or oldest first above it. */
type Direction = 'back' | 'on';

/** One sort of record: rows `x` of a table, in the order of an index on whose they are and `at`. */
interface Source {
  kind: ActivityKind;
  event: ActivityRow['event'];
  from: string;
  at: string;
  id?: string;
  nth: string;
  /** Room, sequence and type, which only messages have here: their ids are no key. */
  message?: string;
}

const AGENTS: readonly Source[] = [
  {
    kind: 'task',
    event: 'created',
    from: 'tasks x WHERE x.assignee_id = agent.id',
    at: 'x.created_at',
    nth: '0::bigint',
  },
  {
    kind: 'task',
    event: 'finished',
    from: 'tasks x WHERE x.assignee_id = agent.id AND x.finished_at IS NOT NULL',
    at: 'x.finished_at',
    nth: '1::bigint',
  },
  {
    kind: 'message',
    event: 'sent',
    from: `messages x WHERE x.sender_id = agent.id AND ${SAID}`,
    at: 'x.created_at',
    nth: '0::bigint',
    message: 'x.room_id, x.seq, x.type',
  },
  {
    kind: 'approval',
    event: 'requested',
    from: 'approvals x WHERE x.requester_id = agent.id',
    at: 'x.created_at',
    nth: '0::bigint',
  },
  {
    kind: 'approval',
    event: 'decided',
    from: 'approvals x WHERE x.requester_id = agent.id AND x.decided_at IS NOT NULL',
    at: 'x.decided_at',
    nth: '1::bigint',
  },
];
const RUNTIMES: Source = {
  kind: 'runtime',
  event: 'claimed',
  from: 'runtime_attempts x WHERE x.runtime_id = runtime.id',
  at: 'x.claimed_at',
  id: 'x.delivery_id',
  nth: 'x.version',
};

function select(source: Source, direction: Direction): string {
  const { kind, event, from, at, id = 'x.id', nth } = source;
  const { message = 'NULL::uuid, NULL::bigint, NULL::text' } = source;
  const [above, order] = direction === 'back' ? ['<', 'DESC'] : ['>', 'ASC'];
  return `(SELECT '${kind}', '${event}', agent.id, ${at}, ${id}, ${nth}, ${message}
             FROM ${from} AND ($2::text IS NULL OR $2 = '${kind}')
              AND (${at}, ${id}, ${nth}) ${above} ((SELECT at FROM ask), (SELECT id FROM ask), (SELECT nth FROM ask))
              ${direction === 'on' ? `AND ${at} < $7::timestamptz` : ''}
            ORDER BY ${at} ${order}, ${id} ${order}, ${nth} ${order} LIMIT (SELECT n FROM ask))`;
}

/**
 * `page` merges the records of each sort and agent, of which an index gives the next ones in order: a page costs some
 * rows an agent however much there is (32 agents, 200,000 records of each sort: 10-30 ms). What it shows of them is
 * then looked up by key, by LATERAL with LIMIT: a plan made while tables are small would scan them otherwise.
 *
 * `ask` hides the parameters from the planner. If it saw a limit of 101 it would sort all that an average agent has,
 * a hundred records, and do the same with the million of a busy one.
 */
function pageText(direction: Direction): string {
  const order = direction === 'back' ? 'DESC' : 'ASC';
  const sorts = AGENTS.map((source) => select(source, direction)).join(' UNION ALL ');
  return `WITH ask AS MATERIALIZED (SELECT $3::int AS n, $4::timestamptz AS at, $5::uuid AS id, $6::bigint AS nth),
   page AS MATERIALIZED (
     SELECT k.* FROM unnest($1::uuid[]) AS agent(id) CROSS JOIN LATERAL (
       ${sorts}
       UNION ALL (SELECT job.* FROM runtimes runtime CROSS JOIN LATERAL ${select(RUNTIMES, direction)} AS job
                   WHERE runtime.identity_id = agent.id)
     ) AS k(kind, event, agent_id, at, id, nth, room_id, seq, type)
     ORDER BY at ${order}, id ${order}, nth ${order} LIMIT $3::int
   )
   SELECT p.kind, p.event, p.agent_id AS "agentId", p.at, p.id, p.nth,
          coalesce(p.room_id, t.room_id, j.room_id, a.room_id) AS "roomId", p.seq, p.type,
          t.creator_id AS "creatorId", t.parent_id AS "parentTaskId", t.root_id AS "rootTaskId", t.operation,
          t.state AS "taskState", j.runtime_id AS "runtimeId", j.message_id AS "messageId", j.outcome,
          j.finished_at AS "finishedAt", j.model_calls AS "modelCalls", j.input_tokens AS "inputTokens",
          j.output_tokens AS "outputTokens", a.task_id AS "taskId", a.approver_id AS "approverId",
          a.state AS "approvalState", a.expires_at AS "expiresAt"
     FROM page p
     LEFT JOIN LATERAL (
       SELECT room_id, creator_id, parent_id, root_id, state, input ->> 'operation' AS operation
         FROM tasks WHERE id = p.id LIMIT 1) t ON p.kind = 'task'
     LEFT JOIN LATERAL (
       SELECT d.room_id, d.message_id, x.runtime_id, x.outcome, x.finished_at, x.model_calls, x.input_tokens,
              x.output_tokens
         FROM runtime_attempts x JOIN runtime_deliveries d ON d.id = x.delivery_id
        WHERE x.delivery_id = p.id AND x.version = p.nth LIMIT 1) j ON p.kind = 'runtime'
     LEFT JOIN LATERAL (
       SELECT room_id, task_id, approver_id, state, expires_at
         FROM approvals WHERE id = p.id LIMIT 1) a ON p.kind = 'approval'
    ORDER BY p.at ${order}, p.id ${order}, p.nth ${order}`;
}

const pageBack = statement<ActivityRow>('panel_page_activity_back', pageText('back'));
const pageOn = statement<ActivityRow>('panel_page_activity_on', pageText('on'));

/** Records below a position, the newest first. */
export function pageActivityBack(
  sql: Sql,
  { agentIds, kind, limit }: ActivityAsk,
  below: Position,
): Promise<ActivityRow[]> {
  return sql.query(pageBack, [agentIds, kind, limit, below.at, below.id, below.nth]);
}

/**
 * Records above a position, the oldest first.
 * @param until those of this instant and later are left for another time
 */
export function pageActivityOn(
  sql: Sql,
  { agentIds, kind, limit }: ActivityAsk,
  above: Position,
  until: Date,
): Promise<ActivityRow[]> {
  return sql.query(pageOn, [agentIds, kind, limit, above.at, above.id, above.nth, until]);
}
