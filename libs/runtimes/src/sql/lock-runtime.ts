import { type Sql, statement } from '@relayger/kernel';

const lock = statement<{ version: number }>(
  'runtimes_lock',
  'SELECT version FROM runtimes WHERE id = $1 AND identity_id = $2 FOR NO KEY UPDATE',
);

/**
 * Locks a runtime of an identity: the first lock of whatever takes it. Until the end of the transaction nobody else
 * claims, looks for work, changes the policy or writes notes.
 * @returns its version; null when there is no such runtime
 */
export async function lockRuntime(
  sql: Sql,
  runtimeId: string,
  identityId: string,
): Promise<number | null> {
  return (await sql.query(lock, [runtimeId, identityId]))[0]?.version ?? null;
}
