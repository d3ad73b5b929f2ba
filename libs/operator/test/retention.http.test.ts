import { openToken, startTestApi, type TestApi } from '@relayger/api/testing';
import { makeAdmin } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

/** Lets a record look so many days older than it is, which only somebody at the database can do. */
async function age(table: string, column: string, id: string, days: number): Promise<void> {
  await t.database.pool.query(
    `BEGIN; SET LOCAL session_replication_role = replica;
     UPDATE ${table} SET ${column} = ${column} - interval '${days} days' WHERE id = '${id}'; COMMIT`,
  );
}

async function idsOf(table: string): Promise<string[]> {
  const { rows } = await t.database.pool.query<{ id: string }>(
    `SELECT id FROM ${table} ORDER BY id`,
  );
  return rows.map(({ id }) => id);
}

test('audit records go when they are older than the setting, and not a day before', async () => {
  const admin = await makeAdmin(t);
  for (const handle of ['kept-agent', 'forgotten-agent']) {
    const body = { kind: 'agent' as const, handle, reason: 'test' };
    await t.api.call('createUser', { token: admin.token, body, expect: 201 });
  }
  const [kept, forgotten] = (await idsOf('audit_log')) as [string, string];
  await age('audit_log', 'created_at', kept, 99);
  await age('audit_log', 'created_at', forgotten, 101);
  // A process sweeps when it starts.
  const replica = await t.replica({ AUDIT_RETENTION_DAYS: '100' });
  const deadline = Date.now() + 10_000;
  while ((await idsOf('audit_log')).includes(forgotten) && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20));
  await replica.close();
  const left = await idsOf('audit_log');
  expect(left).toContain(kept);
  expect(left).not.toContain(forgotten);
});

test('the table itself keeps every record for 90 days, and never lets one be changed', async () => {
  const [first] = (await idsOf('audit_log')) as [string];
  const pool = t.database.pool;
  await age('audit_log', 'created_at', first, -30);
  await expect(pool.query('DELETE FROM audit_log WHERE id = $1', [first])).rejects.toThrow(
    'appended',
  );
  await expect(
    pool.query(`UPDATE audit_log SET reason = 'another' WHERE id = $1`, [first]),
  ).rejects.toThrow('appended');
});

test('tokens are forgotten a month after their end', async () => {
  const agent = await t.agent();
  const old = await openToken(t, agent, { scopes: ['read'] });
  await t.database.pool.query(
    `UPDATE access_tokens SET expires_at = now() - interval '31 days' WHERE identity_id = $1`,
    [agent.id],
  );
  const ended = await openToken(t, agent, { scopes: ['read'] });
  const count = async () =>
    (await t.database.pool.query('SELECT FROM access_tokens WHERE identity_id = $1', [agent.id]))
      .rowCount;
  expect(await count()).toBe(3);
  const replica = await t.replica();
  const deadline = Date.now() + 10_000;
  while ((await count()) !== 1 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20));
  await replica.close();
  expect(await count()).toBe(1);
  await t.api.call('getMe', { token: old, expect: 401 });
  await t.api.call('getMe', { token: ended, expect: 200 });
});
