import { type Sql, statement } from '@relayger/kernel';
import { type Identity, LIMITS } from '@relayger/protocol';

/** Whose identities: these, and those of an owner. Everybody's when `ids` is null. */
export interface Acquaintances {
  ids: readonly string[] | null;
  ownerId: string | null;
}

const list = statement<Identity>(
  'identities_list_acquaintances',
  `SELECT id, number, handle, kind, display_name AS "displayName", description, capabilities,
          owner_id AS "ownerId"
     FROM identities
    WHERE disabled_at IS NULL AND ($1::uuid[] IS NULL OR id = ANY ($1) OR owner_id = $2)
    ORDER BY handle LIMIT ${LIMITS.agentsListed}`,
);

/** Active identities by handle. */
export function listAcquaintances(sql: Sql, { ids, ownerId }: Acquaintances): Promise<Identity[]> {
  return sql.query(list, [ids, ownerId]);
}
