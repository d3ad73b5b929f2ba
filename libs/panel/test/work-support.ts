import { randomUUID } from 'node:crypto';
import { seedAgents, type TestAgent, type TestApi, type TestHuman } from '@relayger/api/testing';
import { type ActivityPage, LIMITS } from '@relayger/protocol';

export const MINUTE = 60_000;
export const WEEK = LIMITS.monitoringDays * 24 * 60 * MINUTE;

/** Times are milliseconds before now, on the clock of the database. */
interface Timed {
  at: number;
}

const uniqueHandles = (count: number) => Array.from({ length: count }, () => `w-${randomUUID()}`);

/** Agents of a person, with a token each. */
export async function owned(
  t: TestApi,
  owner: Pick<TestHuman, 'id'>,
  count: number,
): Promise<TestAgent[]> {
  const agents = await seedAgents(t, uniqueHandles(count));
  await t.database.pool.query('UPDATE identities SET owner_id = $1 WHERE id = ANY ($2)', [
    owner.id,
    agents.map(({ id }) => id),
  ]);
  return agents.sort((a, b) => (a.handle < b.handle ? -1 : 1));
}

export async function ownedOne(t: TestApi, owner: Pick<TestHuman, 'id'>): Promise<TestAgent> {
  return (await owned(t, owner, 1))[0] as TestAgent;
}

/** A group of an agent. */
export async function roomOf(t: TestApi, { token }: Pick<TestAgent, 'token'>): Promise<string> {
  const { body } = await t.api.call('createRoom', { token, body: { name: 'lab' }, expect: 201 });
  return body.id;
}

const AGO = (index: number) => `now() - make_interval(secs => $${index}::float8 / 1000)`;

/** A task of an agent by itself, queued unless it is finished. */
export async function seedTask(
  t: TestApi,
  agent: Pick<TestAgent, 'id'>,
  room: string,
  { at, state = 'queued', end = null }: Timed & { state?: string; end?: number | null },
): Promise<string> {
  const id = randomUUID();
  const isHeld = state === 'running' || state === 'waiting_approval';
  await t.database.pool.query(
    `INSERT INTO tasks (id, room_id, creator_id, client_task_id, fingerprint, assignee_id, root_id, depth, input,
                        state, lease_owner, lease_until, result, error, created_at, finished_at)
     VALUES ($1, $2, $3, gen_random_uuid(), sha256('x'), $3, $1, 1, '{"operation":"sum","values":[1]}', $4,
             CASE WHEN $7 THEN gen_random_uuid() END, CASE WHEN $7 THEN now() + interval '1 hour' END,
             CASE WHEN $4 = 'completed' THEN '{"text":"x"}'::json END, CASE WHEN $4 = 'failed' THEN 'x' END,
             ${AGO(5)}, ${AGO(6)})`,
    [id, room, agent.id, state, at, end, isHeld],
  );
  return id;
}

/** Messages of an agent, in a room that nobody has to be in. */
export async function seedMessages(
  t: TestApi,
  agent: Pick<TestAgent, 'id'>,
  { at, type = 'text', count = 1 }: Timed & { type?: string; count?: number },
): Promise<void> {
  await t.database.pool.query(
    `INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, trace_id, created_at)
     SELECT gen_random_uuid(), i, gen_random_uuid(), $1, gen_random_uuid(), sha256('x'), $2, '{}',
            gen_random_uuid(), ${AGO(3)}
       FROM generate_series(1, $4::int) AS i`,
    [agent.id, type, at, count],
  );
}

/** Registers a runtime of an agent. */
export async function runtimeOf(
  t: TestApi,
  { token }: Pick<TestAgent, 'token'>,
  name = 'worker',
): Promise<string> {
  const body = { name, from: 'now' as const };
  return (await t.api.call('registerRuntime', { token, body, expect: 201 })).body.id;
}

type Usage = readonly [modelCalls: number, inputTokens: number, outputTokens: number];

/** A job of a runtime with one attempt at it. */
export async function seedAttempt(
  t: TestApi,
  runtimeId: string,
  {
    at,
    outcome = null,
    took = 1000,
    usage = null,
    state = outcome === 'failed' ? 'dead_letter' : (outcome ?? 'pending'),
  }: Timed & {
    outcome?: 'handled' | 'skipped' | 'failed' | null;
    took?: number;
    usage?: Usage | null;
    state?: string;
  },
): Promise<string> {
  const id = randomUUID();
  const [calls = null, input = null, output = null] = usage ?? [];
  await t.database.pool.query(
    `WITH job AS (
       INSERT INTO runtime_deliveries (id, runtime_id, room_id, seq, message_id, state, owner, due_at, version, attempts)
       VALUES ($1, $2, gen_random_uuid(), 1, gen_random_uuid(), $3,
               CASE WHEN $3 = 'leased' THEN gen_random_uuid() END, now() + interval '1 minute', 1, 1))
     INSERT INTO runtime_attempts (delivery_id, version, runtime_id, owner, claimed_at, finished_at, outcome, fingerprint,
                                   model_calls, input_tokens, output_tokens)
     SELECT $1, 1, $2, gen_random_uuid(), claimed, CASE WHEN $5::text IS NOT NULL THEN
              claimed + make_interval(secs => $6::float8 / 1000) END, $5,
            CASE WHEN $5 IS NOT NULL THEN sha256('x') END, $7, $8, $9
       FROM (SELECT date_trunc('milliseconds', ${AGO(4)}) AS claimed) t`,
    [id, runtimeId, state, at, outcome, took, calls, input, output],
  );
  return id;
}

/** An approval of a task, decided when `end` is given. */
export async function seedApproval(
  t: TestApi,
  agent: Pick<TestAgent, 'id'>,
  approver: Pick<TestHuman, 'id'>,
  task: { id: string; room: string },
  { at, end = null }: Timed & { end?: number | null },
): Promise<string> {
  const id = randomUUID();
  await t.database.pool.query(
    `INSERT INTO approvals (id, task_id, room_id, requester_id, approver_id, description, action, version, expires_in,
                            payload_hash, state, created_at, expires_at, decided_at)
     VALUES ($1, $2, $3, $4, $5, 'x', '{}', 1, 600, sha256('x'),
             CASE WHEN $7::float8 IS NULL THEN 'closed' ELSE 'rejected' END, ${AGO(6)},
             now() + interval '1 hour', ${AGO(7)})`,
    [id, task.id, task.room, agent.id, approver.id, at, end],
  );
  return id;
}

/** Reads a feed in one direction to its end; all pages, in their order. */
export async function walk(
  t: TestApi,
  token: string,
  query: { agentId?: string; kind?: 'task' | 'message' | 'runtime' | 'approval'; limit?: number },
  from: { before?: string; after?: string } = {},
): Promise<ActivityPage[]> {
  const pages: ActivityPage[] = [];
  let cursor: { before?: string; after?: string } = from;
  for (;;) {
    const call = { token, query: { ...query, ...cursor }, expect: 200 as const };
    const { body } = await t.api.call('listActivity', call);
    pages.push(body);
    const isLast = from.after ? body.items.length === 0 : body.nextCursor === null;
    if (isLast) return pages;
    cursor = { [from.after ? 'after' : 'before']: body.nextCursor as string };
  }
}

/** Looks until it is as it should be, for at most ten seconds. @returns what was last seen */
export async function until<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const end = Date.now() + 10_000;
  for (;;) {
    const seen = await look();
    if (holds(seen) || Date.now() > end) return seen;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
