import { type Sql, statement } from '@relayger/kernel';
import { type ContactState, type IdentityKind, LIMITS } from '@relayger/protocol';

export interface ContactRow {
  number: string;
  handle: string;
  kind: IdentityKind;
  state: ContactState;
  display_name: string;
  note: string | null;
}

// A disabled identity shows as unavailable to everybody but the one who blocked it, who must be able to see
// the block in order to lift it.
const listContacts = statement<ContactRow>(
  'contacts_list',
  `SELECT i.number, i.handle, i.kind, i.display_name, c.note,
          CASE WHEN i.disabled_at IS NOT NULL AND c.state <> 'blocked' THEN 'unavailable' ELSE c.state END AS state
   FROM contacts c JOIN identities i ON i.id = c.peer_id
   WHERE c.identity_id = $1
   ORDER BY (c.state = 'incoming' AND i.disabled_at IS NULL) DESC, i.handle
   LIMIT ${LIMITS.contactsListed}`,
);

/** Incoming requests first, then by handle. */
export function selectContacts(sql: Sql, identityId: string): Promise<ContactRow[]> {
  return sql.query(listContacts, [identityId]);
}
