import { pendingRequesters } from '@relayger/contacts';
import { type Sql, statement } from '@relayger/kernel';
import { MESSAGE_COLUMNS, type MessageRow } from '@relayger/messages';
import { LIMITS } from '@relayger/protocol';
import { IS_RETRACTED } from './is-work.js';

export interface ClaimAsk {
  runtimeId: string;
  identityId: string;
  /** Only these rooms, when the token is limited to them. */
  roomIds: readonly string[] | null;
  /** Most jobs to take. */
  wanted: number;
}

interface JobColumns extends MessageRow {
  delivery_id: string;
  owner: string;
  version: string;
  attempts: number;
  lease_until: Date;
}
/** One job, or one row without any. */
export type ClaimRow = {
  /** Another claim or a new policy came between: nothing was taken, ask again. */
  stale: boolean;
  /** Jobs could be taken that were not found: rooms have messages that nobody has looked at. */
  news: boolean;
  contact_requests: number;
} & (JobColumns | { [K in keyof JobColumns]: null });

/**
 * The hot path of workers: up to `wanted` jobs of one runtime, in one statement and one commit.
 *
 * 1. `seen` reads the runtime and how many leases its hours, calls and other leases leave free.
 * 2. `job` walks the open jobs in their order (runtime_deliveries_open_idx, a few rows) and drops those whose room
 *    cannot be worked in now; memberships, rooms and messages are met by primary key.
 * 3. `bumped` raises the runtime's `claims`, only if nobody has since the snapshot: then what was counted still
 *    holds, and limits hold exactly over any number of processes. Otherwise nothing is taken (`stale`).
 * 4. `taken` and `tried` write the leases. A row that a late finish has just changed no longer matches.
 *
 * Locks: the runtime, then its jobs. An empty claim writes nothing. statement_timestamp(), because in a transaction
 * now() would be from before the lock.
 *
 * A claim commits without waiting for the disk (synchronous_commit off, for this transaction only): all workers of a
 * runtime follow each other here. After a crash of the database server some jobs may be as if they had not been
 * claimed; their holders' random owners no longer match, so they are fenced, and the jobs are given out again, which
 * at-least-once delivery allows. A report waits for the disk, and with it for the claim before it.
 */
const claimJobs = statement<ClaimRow>(
  'runtimes_claim_jobs',
  `WITH seen AS MATERIALIZED (
     SELECT rt.*, date_trunc('hour', statement_timestamp(), 'UTC') AS hour,
       set_config('synchronous_commit', 'off', true),
       CASE WHEN cardinality(rt.active_hours) = 0
              OR extract(hour FROM statement_timestamp() AT TIME ZONE 'UTC')::int = ANY (rt.active_hours)
         THEN greatest(0, least($4::int,
           rt.max_calls_per_hour
             - CASE WHEN rt.calls_hour = date_trunc('hour', statement_timestamp(), 'UTC') THEN rt.calls ELSE 0 END,
           rt.concurrency - (SELECT count(*) FROM runtime_deliveries d
              WHERE d.runtime_id = $1 AND d.state = 'leased' AND d.due_at > statement_timestamp())))
         ELSE 0 END AS free
     FROM runtimes rt WHERE rt.id = $1 AND rt.identity_id = $2
   ),
   job AS MATERIALIZED (
     SELECT d.id, d.version
     FROM runtime_deliveries d
     JOIN memberships s ON s.room_id = d.room_id AND s.identity_id = $2
     JOIN rooms r ON r.id = d.room_id AND r.gate = 'open'
     JOIN messages m ON m.room_id = d.room_id AND m.seq = d.seq AND NOT ${IS_RETRACTED}
     WHERE d.runtime_id = $1 AND d.state IN ('pending', 'leased') AND d.due_at <= statement_timestamp()
       AND d.attempts < (SELECT max_attempts FROM seen)
       AND (d.expires_at IS NULL OR d.expires_at > statement_timestamp())
       AND ($3::uuid[] IS NULL OR d.room_id = ANY ($3))
     ORDER BY d.position
     LIMIT (SELECT free FROM seen)
   ),
   bumped AS (
     UPDATE runtimes rt
     SET claims = rt.claims + n.count, calls_hour = seen.hour,
         calls = CASE WHEN rt.calls_hour = seen.hour THEN rt.calls ELSE 0 END + n.count
     FROM seen, (SELECT count(*)::int AS count FROM job) n
     WHERE rt.id = seen.id AND rt.claims = seen.claims AND rt.version = seen.version AND n.count > 0
     RETURNING rt.id
   ),
   taken AS (
     UPDATE runtime_deliveries d
     SET state = 'leased', owner = gen_random_uuid(), version = d.version + 1, attempts = d.attempts + 1,
         due_at = clock_timestamp() + interval '${LIMITS.leaseSeconds} seconds', updated_at = clock_timestamp()
     FROM job j CROSS JOIN bumped
     WHERE d.id = j.id AND d.version = j.version AND d.state IN ('pending', 'leased')
       AND d.due_at <= statement_timestamp()
     RETURNING d.id, d.position, d.room_id, d.seq, d.owner, d.version, d.attempts, d.due_at
   ),
   tried AS (
     INSERT INTO runtime_attempts (delivery_id, version, runtime_id, owner, claimed_at)
     SELECT id, version, $1, owner, clock_timestamp() FROM taken
   )
   SELECT EXISTS (SELECT FROM job) AND NOT EXISTS (SELECT FROM bumped) AS stale,
     CASE WHEN seen.free > (SELECT count(*) FROM job) THEN EXISTS (
       SELECT FROM memberships s JOIN rooms r ON r.id = s.room_id AND r.gate = 'open'
       LEFT JOIN runtime_cursors c ON c.runtime_id = $1 AND c.room_id = r.id
       WHERE s.identity_id = $2 AND ($3::uuid[] IS NULL OR r.id = ANY ($3)) AND r.last_seq > coalesce(c.seq, 0)
     ) ELSE false END AS news,
     (SELECT count(*)::int FROM (${pendingRequesters('$2')}) AS waiting) AS contact_requests,
     t.id AS delivery_id, t.owner, t.version, t.attempts, t.due_at AS lease_until, ${MESSAGE_COLUMNS}
   FROM seen
   LEFT JOIN (taken t
     JOIN messages m ON m.room_id = t.room_id AND m.seq = t.seq
     JOIN identities i ON i.id = m.sender_id) ON true
   ORDER BY t.position`,
);

/** Takes jobs; an empty list when the identity has no such runtime, otherwise at least one row. */
export function takeJobs(sql: Sql, ask: ClaimAsk): Promise<ClaimRow[]> {
  return sql.query(claimJobs, [ask.runtimeId, ask.identityId, ask.roomIds, ask.wanted]);
}
