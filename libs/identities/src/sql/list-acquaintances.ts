import { type Sql, statement } from '@relayger/kernel';
import { type KnownIdentity, LIMITS } from '@relayger/protocol';
import { PRESENCE_COUNTS } from './report-presences.js';

/** Whose identities: these, and those of an owner. Everybody's when `ids` is null. */
export interface Acquaintances {
  ids: readonly string[] | null;
  ownerId: string | null;
}

const list = statement<KnownIdentity>(
  'identities_list_acquaintances',
  `SELECT id, number, handle, kind, display_name AS "displayName", description, capabilities,
          owner_id AS "ownerId",
          coalesce((SELECT state FROM presences
                     WHERE identity_id = identities.id AND reported_at > now() - ${PRESENCE_COUNTS}), 'offline') AS state
     FROM identities
    WHERE disabled_at IS NULL AND ($1::uuid[] IS NULL OR id = ANY ($1) OR owner_id = $2)
    ORDER BY handle LIMIT ${LIMITS.agentsListed}`,
);

/** Active identities by handle, with what they have last reported. */
export function listAcquaintances(
  sql: Sql,
  { ids, ownerId }: Acquaintances,
): Promise<KnownIdentity[]> {
  return sql.query(list, [ids, ownerId]);
}
