import { type Sql, statement } from '@relayger/kernel';
import type { PresenceState } from '@relayger/protocol';

/** How long a report counts, for statements that read `presences`. */
export const PRESENCE_COUNTS = "interval '10 minutes'";

/** What one identity says of itself. */
export interface PresenceReport {
  identityId: string;
  state: PresenceState;
}

// Ordered, so that two processes that write some of the same rows do not end up waiting for each other.
const report = statement(
  'identities_report_presences',
  `INSERT INTO presences (identity_id, state, reported_at)
   SELECT r.id, r.state, now() FROM unnest($1::uuid[], $2::text[]) AS r(id, state) ORDER BY r.id
   ON CONFLICT (identity_id) DO UPDATE SET state = excluded.state, reported_at = excluded.reported_at`,
);

/** Stores reports, at most one an identity. */
export async function reportPresences(sql: Sql, reports: readonly PresenceReport[]): Promise<void> {
  const ids = reports.map(({ identityId }) => identityId);
  const states = reports.map(({ state }) => state);
  await sql.query(report, [ids, states]);
}
