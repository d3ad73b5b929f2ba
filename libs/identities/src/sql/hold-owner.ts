import { type Sql, statement } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';

const lock = statement(
  'identities_lock_owner',
  'SELECT FROM identities WHERE id = $1 FOR NO KEY UPDATE',
);

const count = statement<{ full: boolean }>(
  'identities_count_owned',
  `SELECT count(*) >= ${LIMITS.ownedAgents} AS full FROM identities WHERE owner_id = $1`,
);

/**
 * Takes the owner's row, so that parallel calls cannot both take the last place. Two statements: the count has to
 * see what was committed while the lock was waited for.
 * @returns whether the owner has as many agents as one may have
 */
export async function holdOwner(sql: Sql, ownerId: string): Promise<{ full: boolean }> {
  await sql.query(lock, [ownerId]);
  const [row] = await sql.query(count, [ownerId]);
  return { full: row?.full ?? true };
}
