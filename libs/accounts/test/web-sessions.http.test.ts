import {
  browserOf,
  disable,
  openToken,
  registerHuman,
  signIn,
  startTestApi,
  type TestApi,
} from '@relayger/api/testing';
import { createLogger } from '@relayger/kernel';
import { HUMAN_SCOPES, type Scope } from '@relayger/protocol';
import { AccountsSweep } from '../src/accounts.sweep.js';
import { tally } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

async function open(token: string) {
  return browserOf(t.origin, await t.api.call('openWebSession', { token, expect: 201 }));
}

test('a token signs a browser in; signing out ends the session and not the token', async () => {
  const human = await registerHuman(t);
  const reply = await t.api.call('openWebSession', { token: human.token, expect: 201 });
  const { id, number, handle } = human;
  expect(reply.body).toEqual({ id, number, handle, expiresAt: reply.body.expiresAt });
  expect(reply.headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^relayger_session=rls_[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
    ),
  ]);
  const headers = browserOf(t.origin, reply);
  const current = await t.api.call('getWebSession', { headers, expect: 200 });
  expect(current.body).toEqual(reply.body);

  const out = await t.api.call('closeWebSession', { headers, expect: 200 });
  expect(out.headers['set-cookie']).toEqual([
    'relayger_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
  ]);
  // A copy of the cookie opens nothing.
  await t.api.call('getWebSession', { headers, expect: 401 });
  await t.api.call('closeWebSession', { headers, expect: 401 });
  await t.api.call('getMe', { token: human.token, expect: 200 });
  await open(human.token);
});

test('a session has the scopes and rooms of its token and nothing beyond', async () => {
  const human = await registerHuman(t);
  const room = await t.api.call('createRoom', {
    token: human.token,
    body: { name: 'one of two' },
    expect: 201,
  });
  await t.api.call('createRoom', { token: human.token, body: { name: 'two' }, expect: 201 });
  const narrow = await openToken(t, human, { scopes: ['read'], roomIds: [room.body.id] });
  const headers = await open(narrow);
  const me = await t.api.call('getMe', { headers, expect: 200 });
  expect(me.body).toMatchObject({ scopes: ['read'], roomIds: [room.body.id] });
  const rooms = await t.api.call('listRooms', { headers, expect: 200 });
  expect(rooms.body.map(({ id }) => id)).toEqual([room.body.id]);
  const refused = await t.api.call('createRoom', { headers, body: { name: 'x' }, expect: 403 });
  expect(refused.body.error.code).toBe('insufficient_scope');
});

test('a session opens no further one, and an agent none at all', async () => {
  const human = await registerHuman(t);
  const headers = await open(human.token);
  for (const browser of [headers, await signIn(t, human)]) {
    const reply = await t.api.call('openWebSession', { headers: browser, expect: 403 });
    expect(reply.body.error.code).toBe('token_required');
  }
  const agent = await t.agent();
  const refused = await t.api.call('openWebSession', { token: agent.token, expect: 403 });
  expect(refused.body.error.code).toBe('human_only');
});

test.each<Scope[][]>([[['read', 'admin']], [['*']]])(
  'a token with the scopes %j opens no browser session',
  async (scopes) => {
    const human = await registerHuman(t);
    const token = await openToken(t, human, { scopes });
    const reply = await t.api.call('openWebSession', { token, expect: 403 });
    expect(reply.body.error.code).toBe('operator_console_required');
    expect(reply.headers['set-cookie']).toBeUndefined();
  },
);

test('reading and closing a session is for browsers', async () => {
  const { token } = await registerHuman(t);
  for (const operation of ['getWebSession', 'closeWebSession'] as const) {
    const reply = await t.api.call(operation, { token, expect: 403 });
    expect(reply.body.error.code).toBe('session_required');
    await t.api.call(operation, { expect: 401 });
  }
});

test('a session ends with the token that it was opened with', async () => {
  const human = await registerHuman(t);
  const token = await openToken(t, human, { scopes: HUMAN_SCOPES, expiresIn: 1200 });
  const headers = await open(token);
  const { body } = await t.api.call('getWebSession', { headers, expect: 200 });
  expect(Date.parse(body.expiresAt) - Date.now()).toBeLessThanOrEqual(1_200_000);
  const revoke = 'UPDATE access_tokens SET revoked_at = now() WHERE expires_at < now() + $1';
  await t.database.pool.query(revoke, ['1 hour']);
  await t.api.call('getWebSession', { headers, expect: 401 });
});

test('a session is over after eight hours, with its token or without', async () => {
  const human = await registerHuman(t);
  const [withToken, alone] = [await open(human.token), await signIn(t, human)];
  await t.database.pool.query(
    `UPDATE web_sessions SET expires_at = expires_at - interval '8 hours' WHERE identity_id = $1`,
    [human.id],
  );
  for (const headers of [withToken, alone]) {
    const reply = await t.api.call('getWebSession', { headers, expect: 401 });
    expect(reply.body.error.code).toBe('unauthorized');
  }
  const sweep = new AccountsSweep(t.database, createLogger('silent'));
  await sweep.sweep();
  const { rows } = await t.database.pool.query(
    'SELECT 1 FROM web_sessions WHERE identity_id = $1',
    [human.id],
  );
  expect(rows).toEqual([]);
});

test('what is in a cookie is no token, and a token is no cookie', async () => {
  const human = await registerHuman(t);
  const headers = await open(human.token);
  const secret = headers.cookie.split('=')[1] as string;
  await t.api.call('getMe', { token: secret, expect: 401 });
  for (const value of [human.token, `${secret}x`, '', 'rls_', `"${secret}"`]) {
    const cookie = `relayger_session=${value}`;
    await t.api.call('getMe', { headers: { cookie }, expect: 401 });
  }
  const among = `theme=dark; ${headers.cookie}; relayger_session_hint=1`;
  await t.api.call('getMe', { headers: { cookie: among }, expect: 200 });
});

test('with an Authorization header the cookie does not count, not even when the token is wrong', async () => {
  const [human, other] = [await registerHuman(t), await registerHuman(t)];
  const headers = await open(human.token);
  const me = await t.api.call('getMe', { token: other.token, headers, expect: 200 });
  expect(me.body.id).toBe(other.id);
  await t.api.call('getMe', { token: 'rly_wrong', headers, expect: 401 });
  const basic = { ...headers, authorization: 'Basic eDp5' };
  await t.api.call('getMe', { headers: basic, expect: 401 });
});

test('twenty sessions stay open, also when more are opened at the same moment', async () => {
  const human = await registerHuman(t);
  const replies = await Promise.all(
    Array.from({ length: 24 }, () =>
      t.api.call('openWebSession', { token: human.token, expect: 201 }),
    ),
  );
  const checks = await Promise.all(
    replies.map((reply) =>
      t.api.raw('GET', '/v1/session', { headers: browserOf(t.origin, reply) }),
    ),
  );
  expect(tally(checks)).toEqual({ 200: 20, 401: 4 });
});

test('a browser of a disabled person is signed out', async () => {
  const human = await registerHuman(t);
  const headers = await open(human.token);
  await disable(t, human);
  await t.api.call('getWebSession', { headers, expect: 401 });
});
