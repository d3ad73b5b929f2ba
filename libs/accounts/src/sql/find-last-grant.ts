import { type Sql, statement } from '@relayger/kernel';
import type { Scope } from '@relayger/protocol';

export interface LastGrant {
  scopes: Scope[];
  roomIds: string[] | null;
}

const find = statement<LastGrant>(
  'accounts_find_last_grant',
  `SELECT scopes, CASE WHEN room_restricted THEN room_ids END AS "roomIds"
     FROM access_tokens WHERE identity_id = $1
    ORDER BY created_at DESC, id DESC LIMIT 1`,
);

/** What the newest token of an identity granted, open or not; null when it never had one. */
export async function findLastGrant(sql: Sql, identityId: string): Promise<LastGrant | null> {
  const [row] = await sql.query(find, [identityId]);
  return row ?? null;
}
