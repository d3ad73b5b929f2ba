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
     AND NOT EXISTS (SELECT FROM invite_redemptions WHERE invite_id = v.id AND identity_id = $2)
   FOR UPDATE OF v`,
);

const spend = statement(
  'invites_spend',
  `WITH redeemed AS (INSERT INTO invite_redemptions (invite_id, identity_id) VALUES ($1, $2))
   UPDATE invites SET remaining = remaining - 1 WHERE id = $1`,
);

/** Finds an invite that this identity can still redeem and holds it until the end of the transaction. */
export async function lockOpenInvite(
  sql: Sql,
  codeHash: Buffer,
  redeemerId: string,
): Promise<OpenInvite | null> {
  const [row] = await sql.query(lockInvite, [codeHash, redeemerId]);
  return row ?? null;
}

/** Takes one use of an invite that is held; the same identity cannot redeem it again. */
export async function spendInvite(sql: Sql, id: string, redeemerId: string): Promise<void> {
  await sql.query(spend, [id, redeemerId]);
}
