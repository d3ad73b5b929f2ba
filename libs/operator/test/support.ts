import { openToken, registerHuman, type TestApi, type TestHuman } from '@relayger/api/testing';
import type { Scope } from '@relayger/protocol';

/** A person with the role of an administrator and a token for it, as the operator tool makes one. */
export async function makeAdmin(
  t: TestApi,
  scopes: readonly Scope[] = ['read', 'admin'],
): Promise<TestHuman> {
  const human = await registerHuman(t);
  await t.database.pool.query(`UPDATE identities SET role = 'admin' WHERE id = $1`, [human.id]);
  return { ...human, token: await openToken(t, human, { scopes }) };
}

/** What the audit log says about an identity, in the order in which it was done. */
export async function auditOf(t: TestApi, subjectId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await t.database.pool.query(
    'SELECT actor_id, action, token_id, reason, details FROM audit_log WHERE subject_id = $1 ORDER BY id',
    [subjectId],
  );
  return rows;
}
