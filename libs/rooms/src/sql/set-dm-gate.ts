import { type Sql, statement } from '@relayger/kernel';

export type DmGate = 'open' | 'closed' | 'blocked';

// Takes the room row's lock, as every append does: an append that was waiting for it sees the new gate, and one
// that read the old access_version starts again. After the commit nothing more can be stored across a block.
const setGate = statement(
  'rooms_set_dm_gate',
  `UPDATE rooms SET gate = $3, access_version = access_version + 1
   WHERE dm_low = least($1::uuid, $2::uuid) AND dm_high = greatest($1::uuid, $2::uuid) AND gate <> $3`,
);

const isHumanPair = statement<{ humans: boolean }>(
  'rooms_is_human_pair',
  `SELECT bool_and(kind = 'human') AS humans FROM identities WHERE id IN ($1, $2)`,
);

/** Opens, closes or blocks the direct conversation of two identities, if they have one. */
export async function setDmGate(sql: Sql, a: string, b: string, gate: DmGate): Promise<void> {
  await sql.query(setGate, [a, b, gate]);
}

/** True when no agent takes part: such a conversation needs no friendship. */
export async function isHumanOnly(sql: Sql, a: string, b: string): Promise<boolean> {
  const [row] = await sql.query(isHumanPair, [a, b]);
  return row?.humans ?? false;
}
