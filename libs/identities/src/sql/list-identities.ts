import { type Sql, statement } from '@relayger/kernel';
import type { IdentityKind } from '@relayger/protocol';
import type { OwnedRecord } from './list-owned.js';

/** Everything that an operator may see of an identity. */
export interface FullRecord extends OwnedRecord {
  kind: IdentityKind;
  role: 'member' | 'admin';
  ownerId: string | null;
}

const list = statement<FullRecord>(
  'identities_list_all',
  `SELECT id, number, handle, kind, role, owner_id AS "ownerId", display_name AS "displayName", description,
          capabilities, listed, created_at AS "createdAt", disabled_at AS "disabledAt",
          CASE WHEN disabled_at IS NOT NULL THEN coalesce(disabled_by, 'operator') END AS "disabledBy"
     FROM identities
    WHERE ($1::uuid IS NULL OR id = $1) AND ($2::text IS NULL OR handle > $2)
    ORDER BY handle LIMIT $3`,
);

/** A page of all identities by handle. */
export function listIdentities(
  sql: Sql,
  after: string | undefined,
  limit: number,
): Promise<FullRecord[]> {
  return sql.query(list, [null, after ?? null, limit]);
}

/** One identity by its id. */
export async function getFullRecord(sql: Sql, id: string): Promise<FullRecord | null> {
  const [row] = await sql.query(list, [id, null, 1]);
  return row ?? null;
}
