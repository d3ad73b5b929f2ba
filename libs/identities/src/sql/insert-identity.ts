import { randomInt } from 'node:crypto';
import { type Sql, statement, violatedConstraint } from '@relayger/kernel';
import { drawNumber, fail, type IdentityKind } from '@relayger/protocol';

export interface NewIdentity {
  id: string;
  handle: string;
  kind: IdentityKind;
  displayName: string;
  ownerId: string | null;
}

/** Of 9 * 10^8 numbers even a hundred million taken ones leave eight draws failing once in 40 million times. */
const DRAWS = 8;

const insertIdentity = statement<{ number: string }>(
  'identities_insert',
  `INSERT INTO identities (id, number, handle, kind, display_name, owner_id)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (number) DO NOTHING
   RETURNING number`,
);

/**
 * Stores a new identity under a number drawn at random, so that neither the order nor the count of
 * registrations can be read from it.
 * @returns the number
 * @throws RelaygerError `conflict` when the handle is taken
 */
export async function insertNewIdentity(sql: Sql, identity: NewIdentity): Promise<string> {
  const { id, handle, kind, displayName, ownerId } = identity;
  for (let draw = 0; draw < DRAWS; draw++) {
    try {
      const [row] = await sql.query(insertIdentity, [
        id,
        drawNumber(randomInt),
        handle,
        kind,
        displayName,
        ownerId,
      ]);
      if (row) return row.number;
    } catch (error) {
      if (violatedConstraint(error) === 'identities_handle_key') fail('conflict');
      throw error;
    }
  }
  throw new Error(`no free number in ${DRAWS} draws`);
}
