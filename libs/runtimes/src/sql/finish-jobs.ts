import { type Sql, statement } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';
import { canWorkIn } from './is-work.js';

/** A lease as its holder names it. */
export interface LeaseAsk {
  runtimeId: string;
  identityId: string;
  /** Only these rooms, when the token is limited to them. */
  roomIds: readonly string[] | null;
  deliveryId: string;
  owner: string;
  version: string;
}

export interface FinishAsk extends LeaseAsk {
  outcome: 'handled' | 'skipped' | 'failed';
  /** SHA-256 of the report, hex. */
  fingerprint: string;
  usage: { modelCalls: number; inputTokens: number; outputTokens: number } | null;
}

export interface FinishRow {
  ord: number;
  room_id: string;
  message_id: string;
}

/** Seconds before the second attempt; each further pause is twice as long, 8 at most: maxAttempts ends at 5. */
const FIRST_PAUSE = 1;

/** Whether the row `d` is the lease that `a` names, still valid, in a room that can be worked in. */
const HOLDS = `d.id = a.delivery_id AND d.runtime_id = a.runtime_id AND d.state = 'leased'
       AND d.owner = a.owner AND d.version = a.version AND d.due_at > clock_timestamp()
       AND (a.room_ids IS NULL OR d.room_id = ANY (a.room_ids))
       AND ${canWorkIn('a.identity_id', 'd.room_id')}`;

/**
 * Reports of any number of leases in one statement and one commit. Each takes its job's row, which decides: whoever
 * waited for it sees the row as it is then, and a lease that has ended, was taken over or was reported on no longer
 * matches. A missing answer means that this one changed nothing; `explainLease` says why.
 */
const finishJobs = statement<FinishRow>(
  'runtimes_finish_jobs',
  `WITH ask AS MATERIALIZED (
     SELECT * FROM json_to_recordset($1::json) AS a(
       ord int, runtime_id uuid, identity_id uuid, room_ids uuid[], delivery_id uuid, owner uuid, version bigint,
       outcome text, fingerprint text, model_calls bigint, input_tokens bigint, output_tokens bigint)
   ),
   done AS (
     UPDATE runtime_deliveries d
     SET owner = NULL, updated_at = clock_timestamp(),
         state = CASE WHEN a.outcome <> 'failed' THEN a.outcome
                      WHEN d.attempts >= rt.max_attempts THEN 'dead_letter' ELSE 'pending' END,
         due_at = CASE WHEN a.outcome <> 'failed' THEN d.due_at
                       ELSE clock_timestamp() + make_interval(secs => ${FIRST_PAUSE} * power(2, d.attempts - 1)) END
     FROM ask a JOIN runtimes rt ON rt.id = a.runtime_id AND rt.identity_id = a.identity_id
     WHERE ${HOLDS}
     RETURNING a.ord, d.id, d.room_id, d.message_id, d.version, a.outcome, a.fingerprint, a.model_calls,
               a.input_tokens, a.output_tokens
   ),
   reported AS (
     UPDATE runtime_attempts t
     SET finished_at = clock_timestamp(), outcome = done.outcome, fingerprint = decode(done.fingerprint, 'hex'),
         model_calls = done.model_calls, input_tokens = done.input_tokens, output_tokens = done.output_tokens
     FROM done WHERE t.delivery_id = done.id AND t.version = done.version
   )
   SELECT ord, room_id, message_id FROM done`,
);

const renewLease = statement<{ version: string; lease_until: Date }>(
  'runtimes_renew_lease',
  `WITH ask AS MATERIALIZED (
     SELECT $1::uuid AS runtime_id, $2::uuid AS identity_id, $3::uuid[] AS room_ids, $4::uuid AS delivery_id,
            $5::uuid AS owner, $6::bigint AS version
   )
   UPDATE runtime_deliveries d
   SET due_at = clock_timestamp() + interval '${LIMITS.leaseSeconds} seconds', updated_at = clock_timestamp()
   FROM ask a JOIN runtimes rt ON rt.id = a.runtime_id AND rt.identity_id = a.identity_id
   WHERE ${HOLDS}
   RETURNING d.version, d.due_at AS lease_until`,
);

export interface LeaseState {
  room_id: string;
  /** Whether the identity can work in the room now. */
  reachable: boolean;
  /** Whether this owner had the job under this version, whatever came later. */
  held: boolean;
  /** SHA-256 of what was reported under this lease, hex. */
  fingerprint: string | null;
  reply_id: string | null;
  reply_seq: string | null;
}

const explain = statement<LeaseState>(
  'runtimes_explain_lease',
  `SELECT d.room_id, ${canWorkIn('$2', 'd.room_id')} AS reachable, t.owner IS NOT NULL AS held,
          encode(t.fingerprint, 'hex') AS fingerprint, t.reply_id, t.reply_seq
   FROM runtimes rt JOIN runtime_deliveries d ON d.runtime_id = rt.id AND d.id = $3
   LEFT JOIN runtime_attempts t ON t.delivery_id = d.id AND t.version = $5::bigint AND t.owner = $4
   WHERE rt.id = $1 AND rt.identity_id = $2`,
);

const keepReply = statement(
  'runtimes_keep_reply',
  'UPDATE runtime_attempts SET reply_id = $3, reply_seq = $4 WHERE delivery_id = $1 AND version = $2::bigint',
);

/** Stores reports; answers one row for each that counted. */
export function finishLeases(sql: Sql, asks: readonly FinishAsk[]): Promise<FinishRow[]> {
  const reports = asks.map(({ usage, ...ask }, ord) => ({
    ord,
    runtime_id: ask.runtimeId,
    identity_id: ask.identityId,
    room_ids: ask.roomIds,
    delivery_id: ask.deliveryId,
    owner: ask.owner,
    version: ask.version,
    outcome: ask.outcome,
    fingerprint: ask.fingerprint,
    model_calls: usage?.modelCalls ?? null,
    input_tokens: usage?.inputTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
  }));
  return sql.query(finishJobs, [JSON.stringify(reports)]);
}

/** Renews a lease; null when it is not valid, or the room out of reach. */
export async function extendLease(
  sql: Sql,
  { runtimeId, identityId, roomIds, deliveryId, owner, version }: LeaseAsk,
): Promise<{ version: string; lease_until: Date } | null> {
  const values = [runtimeId, identityId, roomIds, deliveryId, owner, version];
  return (await sql.query(renewLease, values))[0] ?? null;
}

/** What there is behind the names of a lease; null when the identity has no such job. */
export async function explainLease(
  sql: Sql,
  { runtimeId, identityId, deliveryId, owner, version }: LeaseAsk,
): Promise<LeaseState | null> {
  const values = [runtimeId, identityId, deliveryId, owner, version];
  return (await sql.query(explain, values))[0] ?? null;
}

/** Keeps which message was stored with a report, for its retries. */
export async function recordReply(
  sql: Sql,
  { deliveryId, version }: LeaseAsk,
  reply: { id: string; seq: string },
): Promise<void> {
  await sql.query(keepReply, [deliveryId, version, reply.id, reply.seq]);
}
