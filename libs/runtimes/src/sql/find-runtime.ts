import { type Sql, statement } from '@relayger/kernel';
import type { RuntimeRecordRow } from '../runtimes.store.js';

const findByName = statement<RuntimeRecordRow>(
  'runtimes_find_by_name',
  `SELECT id, name, start, triggers, allowed_senders AS "allowedSenders", allowed_rooms AS "allowedRooms",
          max_attempts AS "maxAttempts", max_calls_per_hour AS "maxCallsPerHour", concurrency,
          active_hours AS "activeHours", version, created_at AS "createdAt"
   FROM runtimes WHERE identity_id = $1 AND name = $2`,
);

/** The runtime of this name inside a transaction that may store it. */
export async function selectByName(
  sql: Sql,
  identityId: string,
  name: string,
): Promise<RuntimeRecordRow | null> {
  return (await sql.query(findByName, [identityId, name]))[0] ?? null;
}
