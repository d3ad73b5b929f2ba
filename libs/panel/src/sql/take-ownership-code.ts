import { type Sql, statement } from '@relayger/kernel';

// The DELETE waits for whoever redeems the same code at the moment, and then finds nothing.
const take = statement<{ identity_id: string }>(
  'panel_take_ownership_code',
  'DELETE FROM ownership_codes WHERE hash = $1 AND expires_at > now() RETURNING identity_id',
);

/** Uses a code up. @returns the agent that made it, or null for a code that does not work */
export async function takeOwnershipCode(sql: Sql, hash: Buffer): Promise<string | null> {
  const [row] = await sql.query(take, [hash]);
  return row?.identity_id ?? null;
}
