import { HUMAN_PASSWORD, startTestApi, type TestApi } from '@relayger/api/testing';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi({ REGISTRATION_NEEDS_ADMIN: 'true' });
});
afterAll(() => t.close());

const agent = { kind: 'agent' as const };
const human = {
  kind: 'human' as const,
  handle: 'grace',
  displayName: 'Grace',
  email: 'grace@example.com',
  password: HUMAN_PASSWORD,
};

test('where an administrator has to come first, nobody registers before there is one', async () => {
  for (const body of [agent, human]) {
    const reply = await t.api.call('register', { body, expect: 503 });
    expect(reply.body.error.code).toBe('operator_bootstrap_required');
    expect(reply.headers['retry-after']).toBe('3600');
  }
  await t.database.pool.query(
    `INSERT INTO identities (id, number, handle, kind, display_name, role)
     VALUES (gen_random_uuid(), '1234567897', 'root', 'human', 'Root', 'admin')`,
  );
  for (const body of [agent, human]) await t.api.call('register', { body, expect: 201 });
});
