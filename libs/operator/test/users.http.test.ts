import { startTestApi, type TestApi, type TestHuman } from '@relayger/api/testing';
import type { CreateUserRequest, User } from '@relayger/protocol';
import { auditOf, makeAdmin } from './support.js';

let t: TestApi;
let admin: TestHuman;
beforeAll(async () => {
  t = await startTestApi();
  admin = await makeAdmin(t);
});
afterAll(() => t.close());

const reason = 'ticket 4711';

async function create(request: Omit<CreateUserRequest, 'reason'>): Promise<User> {
  const body = { ...request, reason };
  return (await t.api.call('createUser', { token: admin.token, body, expect: 201 })).body;
}

test.each(['human', 'agent', 'service'] as const)(
  'an administrator creates a %s without password and token',
  async (kind) => {
    const user = await create({ kind, handle: `made-${kind}`, displayName: 'Made' });
    expect(user).toMatchObject({
      kind,
      handle: `made-${kind}`,
      displayName: 'Made',
      role: 'member',
      ownerId: null,
      disabledAt: null,
      openTokens: 0,
    });
    const { rows } = await t.database.pool.query(
      'SELECT password_hash, recovery_key_hash FROM credentials WHERE identity_id = $1',
      [user.id],
    );
    expect(rows).toEqual([{ password_hash: null, recovery_key_hash: null }]);
    expect(await auditOf(t, user.id)).toEqual([
      { actor_id: admin.id, action: 'identity.create', token_id: null, reason, details: { kind } },
    ]);
  },
);

test.each([
  ['no reason', { reason: undefined }],
  ['an empty reason', { reason: '' }],
  ['a reason of two lines', { reason: 'a\nb' }],
  ['a role', { role: 'admin' }],
  ['an owner', { ownerId: null }],
  ['a kind of its own', { kind: 'admin' }],
])('a creation with %s is malformed', async (_, change) => {
  const body = { kind: 'human', handle: 'malformed', reason, ...change };
  const reply = await t.api.call('createUser', { token: admin.token, body, expect: 400 });
  expect(reply.body.error.code).toBe('invalid_request');
});

test('a taken handle is refused and leaves no record', async () => {
  const { handle } = await create({ kind: 'service', handle: 'taken' });
  const before = await t.database.pool.query('SELECT count(*) FROM audit_log');
  const body = { kind: 'agent' as const, handle, reason };
  const reply = await t.api.call('createUser', { token: admin.token, body, expect: 409 });
  expect(reply.body.error.code).toBe('conflict');
  const after = await t.database.pool.query('SELECT count(*) FROM audit_log');
  expect(after.rows).toEqual(before.rows);
});

test('all identities are listed by handle, page by page, without addresses and hashes', async () => {
  for (let i = 0; i < 5; i++) await create({ kind: 'agent', handle: `paged-${i}` });
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const query = { limit: 3, ...(after !== undefined && { after }) };
    const { body, text } = await t.api.call('listUsers', {
      token: admin.token,
      query,
      expect: 200,
    });
    expect(body.items.length).toBeLessThanOrEqual(3);
    expect(text).not.toContain(admin.email);
    seen.push(...body.items.map(({ handle }) => handle));
    after = body.next ?? undefined;
  } while (after !== undefined);
  const { rows } = await t.database.pool.query('SELECT handle FROM identities ORDER BY handle');
  expect(seen).toEqual(rows.map(({ handle }) => handle));
  const all = await t.api.call('listUsers', { token: admin.token, expect: 200 });
  expect(all.body.items.find(({ id }) => id === admin.id)).toMatchObject({ role: 'admin' });
  for (const query of ['limit=0', 'limit=101', 'after=-']) {
    await t.api.raw('GET', `/v1/users?${query}`, { token: admin.token, expect: 400 });
  }
});

test('an administrator changes a profile and says why', async () => {
  const { id } = await create({ kind: 'agent', handle: 'changed' });
  const { body } = await t.api.call('updateUser', {
    token: admin.token,
    params: { id },
    body: { displayName: 'New', listed: true, reason },
    expect: 200,
  });
  expect(body).toMatchObject({ id, displayName: 'New', listed: true, disabledAt: null });
  expect((await auditOf(t, id)).at(-1)).toMatchObject({
    action: 'identity.update',
    reason,
    details: { fields: ['displayName', 'listed'] },
  });
  for (const change of [
    { role: 'admin' },
    { kind: 'human' },
    { handle: 'x2' },
    { ownerId: null },
  ]) {
    const body = { ...change, reason };
    await t.api.call('updateUser', { token: admin.token, params: { id }, body, expect: 400 });
  }
  const silent = {
    token: admin.token,
    params: { id },
    body: { displayName: 'x' },
    expect: 400 as const,
  };
  const missing = await t.api.call('updateUser', silent);
  expect(missing.body.error.details).toMatchObject({ issues: [{ path: 'body.reason' }] });
});

test('disabling ends every token of an identity, enabling brings none back, and both are recorded', async () => {
  const agent = await t.agent();
  const call = { token: admin.token, params: { id: agent.id } };
  const off = await t.api.call('updateUser', {
    ...call,
    body: { disabled: true, reason },
    expect: 200,
  });
  expect(off.body).toMatchObject({ disabledBy: 'operator', openTokens: 0 });
  await t.api.call('getMe', { token: agent.token, expect: 401 });
  const on = await t.api.call('updateUser', {
    ...call,
    body: { disabled: false, reason },
    expect: 200,
  });
  expect(on.body).toMatchObject({ disabledAt: null, disabledBy: null });
  await t.api.call('getMe', { token: agent.token, expect: 401 });
  const actions = (await auditOf(t, agent.id)).map(({ action }) => action);
  expect(actions).toEqual(['identity.disable', 'identity.enable']);
});

test('an operator takes over what an owner has disabled', async () => {
  const owner = await makeAdmin(t, ['account']);
  const { body: agent } = await t.api.call('createOwnedAgent', {
    token: owner.token,
    body: { handle: 'taken-over' },
    expect: 201,
  });
  const params = { id: agent.id };
  await t.api.call('disableOwnedAgent', { token: owner.token, params, expect: 200 });
  const body = { disabled: true, reason };
  const off = await t.api.call('updateUser', { token: admin.token, params, body, expect: 200 });
  expect(off.body.disabledBy).toBe('operator');
  const refused = await t.api.call('enableOwnedAgent', { token: owner.token, params, expect: 403 });
  expect(refused.body.error.code).toBe('disabled_by_operator');
  const on = { disabled: false, reason };
  await t.api.call('updateUser', { token: admin.token, params, body: on, expect: 200 });
});

test('an administrator does not lock itself out, and finds nobody who is not there', async () => {
  const body = { disabled: true, reason };
  const self = { token: admin.token, params: { id: admin.id }, body, expect: 400 as const };
  expect((await t.api.call('updateUser', self)).body.error.code).toBe('invalid_target');
  const params = { id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01' };
  const reply = await t.api.call('updateUser', { token: admin.token, params, body, expect: 404 });
  expect(reply.body.error.code).toBe('not_found');
});

test('a disabled administrator is none, with every token it had', async () => {
  const other = await makeAdmin(t);
  const body = { disabled: true, reason };
  await t.api.call('updateUser', {
    token: admin.token,
    params: { id: other.id },
    body,
    expect: 200,
  });
  await t.api.call('listUsers', { token: other.token, expect: 401 });
});
