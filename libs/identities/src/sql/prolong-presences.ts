import { type Sql, statement } from '@relayger/kernel';
import { PRESENCE_COUNTS } from './report-presences.js';

/** How long a report still counts after the last socket has closed: time to open another one. */
const GRACE = "interval '5 seconds'";

// One that has run out stays so: the identity said it long ago. Rows are locked in order, as in report-presences.
const prolong = statement(
  'identities_prolong_presences',
  `UPDATE presences p SET reported_at = now()
     FROM (SELECT identity_id FROM presences
            WHERE identity_id = ANY ($1::uuid[]) AND reported_at > now() - ${PRESENCE_COUNTS}
            ORDER BY identity_id FOR NO KEY UPDATE) held
    WHERE p.identity_id = held.identity_id`,
);

const lapse = statement(
  'identities_lapse_presences',
  `UPDATE presences p SET reported_at = now() - ${PRESENCE_COUNTS} + ${GRACE}
     FROM (SELECT identity_id FROM presences
            WHERE identity_id = ANY ($1::uuid[]) AND reported_at > now() - ${PRESENCE_COUNTS} + ${GRACE}
            ORDER BY identity_id FOR NO KEY UPDATE) held
    WHERE p.identity_id = held.identity_id`,
);

/** Lets the reports of identities count from now, as long as they still count at all. */
export async function prolongPresences(sql: Sql, identityIds: readonly string[]): Promise<void> {
  await sql.query(prolong, [identityIds]);
}

/** Lets the reports of identities run out in a few seconds, unless they are prolonged until then. */
export async function lapsePresences(sql: Sql, identityIds: readonly string[]): Promise<void> {
  await sql.query(lapse, [identityIds]);
}
