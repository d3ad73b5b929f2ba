import { createHash } from 'node:crypto';
import { startTestApi, type TestApi } from '@relayger/api/testing';
import { AGENT_SCOPES, numberProblem } from '@relayger/protocol';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

const SYMBOL = '[2-9A-HJKMNP-Z]';

test('an agent gets its number, a token for 30 days and both secrets without saying anything', async () => {
  const { body } = await t.api.call('register', { body: { kind: 'agent' }, expect: 201 });
  expect(Object.keys(body).sort()).toEqual(
    ['expiresAt', 'handle', 'id', 'number', 'password', 'recoveryKey', 'scopes', 'token'].sort(),
  );
  expect(numberProblem(body.number)).toBeNull();
  expect(body.handle).toMatch(/^agent-[2-9a-hjkmnp-z]{8}$/);
  expect(body.token).toMatch(/^rly_[A-Za-z0-9_-]{43}$/);
  expect(body.password).toMatch(new RegExp(`^${SYMBOL}{24}$`));
  expect(body.recoveryKey).toMatch(new RegExp(`^RK(-${SYMBOL}{4}){6}$`));
  expect(body.scopes).toEqual(AGENT_SCOPES);
  const days = (Date.parse(body.expiresAt) - Date.now()) / 86_400_000;
  expect(days).toBeCloseTo(30, 2);

  const me = await t.api.call('getMe', { token: body.token, expect: 200 });
  expect(me.body).toMatchObject({
    id: body.id,
    number: body.number,
    handle: body.handle,
    kind: 'agent',
    displayName: body.handle,
    ownerId: null,
    roomIds: null,
    scopes: AGENT_SCOPES,
  });
});

test('only digests of the secrets are stored', async () => {
  const { body } = await t.api.call('register', { body: { kind: 'agent' }, expect: 201 });
  const { rows: tokens } = await t.database.pool.query(
    'SELECT hash FROM access_tokens WHERE identity_id = $1',
    [body.id],
  );
  expect(tokens).toEqual([{ hash: createHash('sha256').update(body.token).digest() }]);
  const { rows } = await t.database.pool.query(
    'SELECT password_hash, recovery_key_hash FROM credentials WHERE identity_id = $1',
    [body.id],
  );
  expect(rows[0].password_hash).toMatch(
    /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/,
  );
  expect(rows[0].recovery_key_hash).toHaveLength(32);
});

test('what the agent chose is taken, and its own password is not repeated', async () => {
  const body = {
    kind: 'agent' as const,
    handle: 'report-agent',
    displayName: 'Report agent ✓',
    password: 'correct horse battery',
    email: 'owner@example.com',
  };
  const { body: registered } = await t.api.call('register', { body, expect: 201 });
  expect(registered).toMatchObject({ handle: 'report-agent', email: 'unavailable' });
  expect(registered.password).toBeUndefined();
  const me = await t.api.call('getMe', { token: registered.token, expect: 200 });
  expect(me.body.displayName).toBe('Report agent ✓');
  await t.api.call('login', {
    body: { number: registered.number, password: body.password },
    expect: 200,
  });
});

test('a taken handle is a conflict, and nothing of the second attempt stays', async () => {
  const body = { kind: 'agent', handle: 'taken' } as const;
  await t.api.call('register', { body, expect: 201 });
  const before = await t.database.prisma.identity.count();
  const refused = await t.api.call('register', { body, expect: 409 });
  expect(refused.body.error.code).toBe('conflict');
  expect(await t.database.prisma.identity.count()).toBe(before);
});

test('of twenty who want one handle at the same time one gets it', async () => {
  const replies = await Promise.all(
    Array.from({ length: 20 }, () =>
      t.api.raw('POST', '/v1/register', { body: { kind: 'agent', handle: 'wanted' } }),
    ),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(19);
});

test.each([
  ['too short', 'Abcdef12345'],
  ['five different characters', 'abcdeabcdeabcde'],
  ['with the handle', 'say-weak-one-12345'],
  ['with the handle in capitals', 'SAY-WEAK-ONE-12345'],
])('a weak password is refused: %s', async (_, password) => {
  const body = { kind: 'agent', handle: 'weak-one', password };
  const refused = await t.api.call('register', { body, expect: 400 });
  expect(refused.body.error.code).toBe('weak_password');
  expect(await t.database.prisma.identity.count({ where: { handle: 'weak-one' } })).toBe(0);
});

test.each([
  ['an unknown field', { kind: 'agent', role: 'admin' }],
  ['no kind', {}],
  ['another kind', { kind: 'service' }],
  ['a handle of one character', { kind: 'agent', handle: 'a' }],
  ['a handle of 41 characters', { kind: 'agent', handle: 'a'.repeat(41) }],
  ['a handle that starts with a digit', { kind: 'agent', handle: '1agent' }],
  ['a handle in capitals', { kind: 'agent', handle: 'Agent' }],
  ['a name of two lines', { kind: 'agent', displayName: 'a\nb' }],
  ['a name of 101 bytes', { kind: 'agent', displayName: 'ü'.repeat(51) }],
  ['something that is no address', { kind: 'agent', email: 'nobody' }],
  ['an address of 255 characters', { kind: 'agent', email: `${'a'.repeat(243)}@example.com` }],
])('a malformed registration is refused: %s', async (_, body) => {
  const refused = await t.api.call('register', { body, expect: 400 });
  expect(refused.body.error.code).toBe('invalid_request');
});

test('a server that does not take registrations says so', async () => {
  const closed = await t.replica({ REGISTRATION_ENABLED: 'false' });
  const refused = await closed.api.call('register', { body: { kind: 'agent' }, expect: 403 });
  expect(refused.body.error.code).toBe('registration_closed');
  await closed.close();
});
