import { startTestApi, type TestApi, type TestHuman } from '@relayger/api/testing';
import { makeAdmin } from './support.js';

let t: TestApi;
let admin: TestHuman;
beforeAll(async () => {
  t = await startTestApi();
  admin = await makeAdmin(t);
});
afterAll(() => t.close());

test('the log says who did what, when and why, the newest first, page by page', async () => {
  const made = [];
  for (let i = 0; i < 5; i++) {
    const body = { kind: 'agent' as const, handle: `logged-${i}`, reason: `reason ${i}` };
    made.push((await t.api.call('createUser', { token: admin.token, body, expect: 201 })).body);
  }
  const seen = [];
  let before: string | undefined;
  do {
    const query = { limit: 2, ...(before !== undefined && { before }) };
    const { body } = await t.api.call('listAudit', { token: admin.token, query, expect: 200 });
    seen.push(...body.items);
    before = body.next ?? undefined;
  } while (before !== undefined);
  expect(seen.map(({ id: _, at: __, ...record }) => record)).toEqual(
    made.reverse().map(({ id }, i) => ({
      actorId: admin.id,
      action: 'identity.create',
      subjectId: id,
      tokenId: null,
      reason: `reason ${4 - i}`,
      details: { kind: 'agent' },
    })),
  );
  expect(Math.abs(Date.parse(seen[0]?.at ?? '') - Date.now())).toBeLessThan(60_000);
  for (const query of ['limit=0', 'before=x', 'before=-1']) {
    await t.api.raw('GET', `/v1/audit?${query}`, { token: admin.token, expect: 400 });
  }
});

test('the log can only be added to', async () => {
  for (const change of [`UPDATE audit_log SET reason = 'other'`, 'DELETE FROM audit_log']) {
    await expect(t.database.pool.query(change)).rejects.toThrow('only appended to');
  }
});

test('a change that is rolled back is not in the log, and one without a log entry is not made', async () => {
  const body = { kind: 'agent' as const, handle: 'no-log', reason: 'x' };
  await t.database.pool.query(
    'ALTER TABLE audit_log ADD CONSTRAINT broken CHECK (action <> $$identity.create$$) NOT VALID',
  );
  await t.api.call('createUser', { token: admin.token, body, expect: 500 });
  await t.database.pool.query('ALTER TABLE audit_log DROP CONSTRAINT broken');
  const { rows } = await t.database.pool.query(`SELECT 1 FROM identities WHERE handle = 'no-log'`);
  expect(rows).toEqual([]);
});

test('no secret is in the log', async () => {
  const agent = await t.agent();
  const issued = await t.api.call('issueToken', {
    token: admin.token,
    body: { identityId: agent.id, scopes: ['read'], reason: 'x' },
    expect: 201,
  });
  const { text } = await t.api.call('listAudit', { token: admin.token, expect: 200 });
  expect(text).toContain(issued.body.id);
  for (const secret of ['rly_', 'RK-', admin.email, 'argon2']) expect(text).not.toContain(secret);
});
