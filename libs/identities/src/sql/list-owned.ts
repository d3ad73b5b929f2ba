import { type Sql, statement } from '@relayger/kernel';
import type { DisabledBy } from './set-disabled.js';

/** An agent as its owner sees it. */
export interface OwnedRecord {
  id: string;
  number: string;
  handle: string;
  displayName: string;
  description: string;
  capabilities: string[];
  listed: boolean;
  createdAt: Date;
  disabledAt: Date | null;
  disabledBy: DisabledBy | null;
}

// Without a note of who it was, it was an operator: the stricter of the two.
const list = statement<OwnedRecord>(
  'identities_list_owned',
  `SELECT id, number, handle, display_name AS "displayName", description, capabilities, listed,
          created_at AS "createdAt", disabled_at AS "disabledAt",
          CASE WHEN disabled_at IS NOT NULL THEN coalesce(disabled_by, 'operator') END AS "disabledBy"
     FROM identities
    WHERE owner_id = $1 AND ($2::uuid IS NULL OR id = $2)
    ORDER BY handle`,
);

/** The agents of an owner by handle, or the one of them with this id. */
export function listOwned(sql: Sql, ownerId: string, id?: string): Promise<OwnedRecord[]> {
  return sql.query(list, [ownerId, id ?? null]);
}
