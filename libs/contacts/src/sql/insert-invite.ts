import { type Sql, statement } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';

interface NewInvite {
  id: string;
  identityId: string;
  codeHash: Buffer;
  uses: number;
  note: string | null;
  /** Seconds. */
  expiresIn: number;
}

// Counted and inserted under the lock of the identity's row, so that parallel calls cannot pass the limit.
const lockIssuer = statement(
  'invites_lock_issuer',
  'SELECT FROM identities WHERE id = $1 FOR NO KEY UPDATE',
);

const insertInvite = statement<{ expires_at: Date }>(
  'invites_insert',
  `INSERT INTO invites (id, identity_id, code_hash, uses, remaining, note, expires_at)
   SELECT $1, $2, $3, $4, $4, $5, now() + make_interval(secs => $6)
   WHERE (SELECT count(*) FROM invites
          WHERE identity_id = $2 AND expires_at > now() AND revoked_at IS NULL AND remaining > 0) < ${LIMITS.activeInvites}
   RETURNING expires_at`,
);

/** Stores an invite; null when the identity has as many active ones as it may have. Needs a transaction. */
export async function insertActiveInvite(
  sql: Sql,
  { id, identityId, codeHash, uses, note, expiresIn }: NewInvite,
): Promise<Date | null> {
  await sql.query(lockIssuer, [identityId]);
  const [row] = await sql.query(insertInvite, [id, identityId, codeHash, uses, note, expiresIn]);
  return row?.expires_at ?? null;
}
