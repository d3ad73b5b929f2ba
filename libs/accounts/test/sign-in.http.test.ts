import { startTestApi, type TestApi } from '@relayger/api/testing';
import { freeNumber, openIdentity, register } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

test('number and password open a session', async () => {
  const { id, number, handle, password } = await register(t);
  const { body } = await t.api.call('login', { body: { number, password }, expect: 200 });
  expect(Object.keys(body).sort()).toEqual(['expiresAt', 'handle', 'id', 'number', 'token']);
  expect(body).toMatchObject({ id, number, handle });
  const me = await t.api.call('getMe', { token: body.token, expect: 200 });
  expect(me.body).toMatchObject({ id, scopes: expect.arrayContaining(['read', 'contacts']) });
});

test.each([
  (n: string) => `+${n.slice(0, 3)} ${n.slice(3, 6)}-${n.slice(6)}`,
  (n: string) => `(${n.slice(0, 3)}) ${n.slice(3, 6)}.${n.slice(6)}`,
])('a number is read in every spelling', async (spell) => {
  const { number, password } = await register(t);
  const reply = await t.api.call('login', {
    body: { number: spell(number), password },
    expect: 200,
  });
  expect(reply.body.number).toBe(number);
});

test('a mistyped number has its own error', async () => {
  const { number } = await register(t);
  const mistyped = number.slice(0, 9) + ((Number(number[9]) + 1) % 10);
  const login = (given: string) =>
    t.api.call('login', { body: { number: given, password: 'x' }, expect: 400 });
  expect((await login(mistyped)).body.error.code).toBe('invalid_number_check_digit');
  for (const given of [number.slice(1), `${number}0`, '0123456789', 'agent']) {
    expect((await login(given)).body.error.code).toBe('invalid_number');
  }
});

test.each([
  ['an unknown field', { number: '1234567897', password: 'x', remember: true }],
  ['no password', { number: '1234567897' }],
  ['a number that is no text', { number: 1234567897, password: 'x' }],
])('a malformed sign-in is refused: %s', async (_, body) => {
  const refused = await t.api.call('login', { body, expect: 400 });
  expect(refused.body.error.code).toBe('invalid_request');
});

test('a wrong password, an unknown number, a disabled and a passwordless account answer alike', async () => {
  const known = await register(t);
  const disabled = await register(t);
  await t.database.prisma.identity.update({
    where: { id: disabled.id },
    data: { disabledAt: new Date() },
  });
  const passwordless = await openIdentity(t.database);
  const bodies = await Promise.all(
    [
      { number: known.number, password: 'wrong' },
      { number: freeNumber(), password: 'wrong' },
      { number: disabled.number, password: disabled.password },
      { number: passwordless.number, password: 'x' },
    ].map(async (body) => {
      const reply = await t.api.call('login', { body, expect: 401 });
      const { requestId: _, ...error } = reply.body.error;
      return error;
    }),
  );
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  expect(bodies[0]?.code).toBe('invalid_credentials');
});

test('twenty sessions stay open; a sign-in beyond that closes the oldest', async () => {
  const { number, password, token } = await register(t);
  const tokens = [token];
  for (let i = 0; i < 20; i++) {
    const { body } = await t.api.call('login', { body: { number, password }, expect: 200 });
    tokens.push(body.token);
  }
  const closed = await t.api.call('getMe', { token, expect: 401 });
  expect(closed.body.error.code).toBe('unauthorized');
  for (const open of tokens.slice(1)) await t.api.call('getMe', { token: open, expect: 200 });
});

test('sign-ins at the same moment do not exceed the twenty either', async () => {
  const { id, number, password } = await register(t);
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      Array.from({ length: 10 }, () =>
        t.api.call('login', { body: { number, password }, expect: 200 }),
      ),
    );
  }
  expect(
    await t.database.prisma.accessToken.count({ where: { identityId: id, revokedAt: null } }),
  ).toBe(20);
});

test('a token that is unknown, expired, revoked or of a disabled identity opens nothing', async () => {
  const [expired, revoked, disabled] = [await register(t), await register(t), await register(t)];
  const { pool } = t.database;
  await pool.query('UPDATE access_tokens SET expires_at = now() WHERE identity_id = $1', [
    expired.id,
  ]);
  await pool.query('UPDATE access_tokens SET revoked_at = now() WHERE identity_id = $1', [
    revoked.id,
  ]);
  await pool.query('UPDATE identities SET disabled_at = now() WHERE id = $1', [disabled.id]);
  const unknown = `rly_${'A'.repeat(43)}`;
  for (const token of [unknown, 'rly_short', expired.token, revoked.token, disabled.token]) {
    const refused = await t.api.call('getMe', { token, expect: 401 });
    expect(refused.body.error.code).toBe('unauthorized');
    expect(refused.headers['www-authenticate']).toBe('Bearer');
  }
  await t.api.call('getMe', { expect: 401 });
});

test('requests that arrive together each get their own caller', async () => {
  const agents = await Promise.all(Array.from({ length: 8 }, () => register(t)));
  const calls = Array.from({ length: 200 }, (_, i) => agents[i % agents.length]);
  const replies = await Promise.all(
    calls.map((agent) => t.api.call('getMe', { token: agent?.token, expect: 200 })),
  );
  expect(replies.map(({ body }) => body.id)).toEqual(calls.map((agent) => agent?.id));
});
