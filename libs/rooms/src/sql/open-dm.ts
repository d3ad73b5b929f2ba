import { type Sql, statement } from '@relayger/kernel';
import { v7 as uuid } from 'uuid';

const insertDm = statement<{ id: string }>(
  'rooms_insert_dm',
  `INSERT INTO rooms (id, kind, dm_low, dm_high, gate)
   VALUES ($1, 'dm', least($2::uuid, $3::uuid), greatest($2::uuid, $3::uuid), 'open')
   ON CONFLICT (dm_low, dm_high) DO NOTHING
   RETURNING id`,
);

const insertPair = statement(
  'rooms_insert_dm_members',
  `INSERT INTO memberships (room_id, identity_id, role) VALUES ($1, $2, 'member'), ($1, $3, 'member')`,
);

const findDm = statement<{ id: string }>(
  'rooms_find_dm',
  'SELECT id FROM rooms WHERE dm_low = least($1::uuid, $2::uuid) AND dm_high = greatest($1::uuid, $2::uuid)',
);

/** The direct conversation of two identities, if they have one. */
export async function selectDm(sql: Sql, a: string, b: string): Promise<string | null> {
  return (await sql.query(findDm, [a, b]))[0]?.id ?? null;
}

/**
 * The direct conversation of two identities, created when there is none. Call it while their relationship is
 * locked: the new room starts open.
 */
export async function openDmRoom(
  sql: Sql,
  a: string,
  b: string,
): Promise<{ id: string; created: boolean }> {
  const [created] = await sql.query(insertDm, [uuid(), a, b]);
  if (created) {
    await sql.query(insertPair, [created.id, a, b]);
    return { id: created.id, created: true };
  }
  const existing = await selectDm(sql, a, b);
  if (!existing) throw new Error('a direct conversation vanished');
  return { id: existing, created: false };
}
