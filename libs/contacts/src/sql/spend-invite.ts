import { type Sql, statement } from '@relayger/kernel';

export interface OpenInvite {
  id: string;
  identity_id: string;
  number: string;
  handle: string;
}

// The row lock makes parallel redemptions of the last use follow each other.
const lockInvite = statement<OpenInvite>(
  'invites_lock',
  `SELECT v.id, v.identity_id, i.number, i.handle
   FROM invites v JOIN identities i ON i.id = v.identity_id
   WHERE v.code_hash = $1 AND v.remaining > 0 AND v.revoked_at IS NULL AND v.expires_at > now()
     AND i.disabled_at IS NULL
   FOR UPDATE OF v`,
);

const spend = statement(
  'invites_spend',
  'UPDATE invites SET remaining = remaining - 1 WHERE id = $1',
);

/** Finds an invite that can still be redeemed and holds it until the end of the transaction. */
export async function lockOpenInvite(sql: Sql, codeHash: Buffer): Promise<OpenInvite | null> {
  const [row] = await sql.query(lockInvite, [codeHash]);
  return row ?? null;
}

/** Takes one use of an invite that is held. */
export async function spendInvite(sql: Sql, id: string): Promise<void> {
  await sql.query(spend, [id]);
}
