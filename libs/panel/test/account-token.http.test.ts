import {
  browserOf,
  openToken,
  registerHuman,
  signIn,
  startTestApi,
  type TestApi,
} from '@relayger/api/testing';
import { HUMAN_SCOPES } from '@relayger/protocol';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

test('a person exchanges a token for one with the same scopes and expiry; the old one ends', async () => {
  const human = await registerHuman(t);
  const before = await t.api.call('getMe', { token: human.token, expect: 200 });
  const { body } = await t.api.call('rotateAccountToken', { token: human.token, expect: 200 });
  expect(body).toEqual({
    id: expect.any(String),
    token: expect.stringMatching(/^rly_/),
    scopes: HUMAN_SCOPES,
    roomIds: null,
    expiresAt: before.body.expiresAt,
  });
  await t.api.call('getMe', { token: human.token, expect: 401 });
  const after = await t.api.call('getMe', { token: body.token, expect: 200 });
  expect(after.body).toEqual(before.body);
});

test('a narrow token stays narrow, and its rooms stay its rooms', async () => {
  const human = await registerHuman(t);
  const room = await t.api.call('createRoom', {
    token: human.token,
    body: { name: 'x' },
    expect: 201,
  });
  const token = await openToken(t, human, {
    scopes: ['read'],
    roomIds: [room.body.id],
    expiresIn: 900,
  });
  const { body } = await t.api.call('rotateAccountToken', { token, expect: 200 });
  expect(body).toMatchObject({ scopes: ['read'], roomIds: [room.body.id] });
  expect(Date.parse(body.expiresAt) - Date.now()).toBeLessThanOrEqual(900_000);
  await t.api.call('getMe', { token: human.token, expect: 200 });
});

test('of many exchanges of one token one succeeds', async () => {
  const { id, token } = await registerHuman(t);
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => t.api.raw('POST', '/v1/account/token', { token, body: {} })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
  const { rows } = await t.database.pool.query(
    'SELECT 1 FROM access_tokens WHERE identity_id = $1 AND revoked_at IS NULL',
    [id],
  );
  expect(rows).toHaveLength(1);
});

test('an account with twenty tokens can still exchange one', async () => {
  const human = await registerHuman(t);
  for (let i = 0; i < 19; i++) await openToken(t, human, { scopes: HUMAN_SCOPES });
  await t.api.call('rotateAccountToken', { token: human.token, expect: 200 });
});

test('a browser exchanges the token behind its session and stays signed in', async () => {
  const human = await registerHuman(t);
  const headers = browserOf(
    t.origin,
    await t.api.call('openWebSession', { token: human.token, expect: 201 }),
  );
  const { body } = await t.api.call('rotateAccountToken', { headers, expect: 200 });
  await t.api.call('getMe', { token: human.token, expect: 401 });
  await t.api.call('getMe', { headers, expect: 200 });
  // It hangs on the new one now.
  const revoke = 'UPDATE access_tokens SET revoked_at = now() WHERE id = $1';
  await t.database.pool.query(revoke, [body.id]);
  await t.api.call('getMe', { headers, expect: 401 });
});

test('a session that was opened with a password gets a token of its own, and no other ends', async () => {
  const human = await registerHuman(t);
  const headers = await signIn(t, human);
  const { body } = await t.api.call('rotateAccountToken', { headers, expect: 200 });
  expect(body).toMatchObject({ scopes: HUMAN_SCOPES, roomIds: null });
  expect((Date.parse(body.expiresAt) - Date.now()) / 86_400_000).toBeCloseTo(30, 2);
  await t.api.call('getMe', { token: body.token, expect: 200 });
  await t.api.call('getMe', { token: human.token, expect: 200 });
  await t.api.call('getMe', { headers, expect: 200 });
});

test('a token that comes while everything ends does not stay behind', async () => {
  const human = await registerHuman(t);
  const headers = await signIn(t, human);
  const other = await signIn(t, human);
  const { email, password } = human;
  const change = t.api.call('changeHumanPassword', {
    headers,
    body: { email, password, newPassword: 'the next password 2027' },
    expect: 200,
  });
  const replies = await Promise.all(
    Array.from({ length: 6 }, () =>
      t.api.raw('POST', '/v1/account/token', { headers: other, body: {} }),
    ),
  );
  await change;
  for (const { body } of replies.filter(({ status }) => status === 200)) {
    await t.api.call('getMe', { token: (body as { token: string }).token, expect: 401 });
  }
});

test('an agent signs in instead', async () => {
  const { token } = await t.agent();
  const reply = await t.api.call('rotateAccountToken', { token, expect: 403 });
  expect(reply.body.error.code).toBe('human_only');
});

test('the exchange is in the audit log, without a token', async () => {
  const human = await registerHuman(t);
  const { body } = await t.api.call('rotateAccountToken', { token: human.token, expect: 200 });
  const { rows } = await t.database.pool.query(
    'SELECT actor_id, action, token_id, details FROM audit_log WHERE subject_id = $1',
    [human.id],
  );
  expect(rows).toEqual([
    {
      actor_id: human.id,
      action: 'token.rotate',
      token_id: body.id,
      details: { replaces: expect.any(String) },
    },
  ]);
  expect(JSON.stringify(rows)).not.toContain('rly_');
});
