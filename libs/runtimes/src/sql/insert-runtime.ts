import { type Sql, statement } from '@relayger/kernel';
import { LIMITS, type RuntimePolicy } from '@relayger/protocol';

export interface NewRuntime {
  id: string;
  identityId: string;
  name: string;
  start: 'beginning' | 'now';
  policy: RuntimePolicy;
}

// Held until the end of the transaction: parallel registrations of an agent follow each other, so that one name is one
// runtime and the ninth is refused exactly. NO KEY UPDATE does not stand in the way of foreign keys to the row.
const lockAgent = statement(
  'runtimes_lock_agent',
  'SELECT FROM identities WHERE id = $1 FOR NO KEY UPDATE',
);

const insertRuntime = statement<{ created_at: Date }>(
  'runtimes_insert',
  `INSERT INTO runtimes (id, identity_id, name, start, triggers, allowed_senders, allowed_rooms, max_attempts,
                         max_calls_per_hour, concurrency, active_hours)
   SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
   WHERE (SELECT count(*) FROM runtimes WHERE identity_id = $2) < ${LIMITS.runtimes}
   RETURNING created_at`,
);

// One snapshot for all rooms. Sequences become visible in commit order, so what is committed before it has at most
// last_seq, and what commits after it has more: no message is lost and none comes from before. Rooms behind a block
// and outside of the token's list are taken as well, since they may open later.
const startNow = statement(
  'runtimes_start_now',
  `INSERT INTO runtime_cursors (runtime_id, room_id, seq)
   SELECT $1, r.id, r.last_seq FROM memberships m JOIN rooms r ON r.id = m.room_id WHERE m.identity_id = $2`,
);

/** Holds back other registrations of an agent. */
export async function lockRegistrations(sql: Sql, identityId: string): Promise<void> {
  await sql.query(lockAgent, [identityId]);
}

/** Stores a runtime; null when the agent has as many as it may have. Call it under `lockRegistrations`. */
export async function insertNewRuntime(sql: Sql, runtime: NewRuntime): Promise<Date | null> {
  const { id, identityId, name, start, policy } = runtime;
  const [row] = await sql.query(insertRuntime, [
    id,
    identityId,
    name,
    start,
    policy.triggers,
    policy.allowedSenders,
    policy.allowedRooms,
    policy.maxAttempts,
    policy.maxCallsPerHour,
    policy.concurrency,
    policy.activeHoursUTC,
  ]);
  if (!row) return null;
  if (start === 'now') await sql.query(startNow, [id, identityId]);
  return row.created_at;
}
