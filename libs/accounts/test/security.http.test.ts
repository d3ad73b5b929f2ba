import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApi, type TestApi } from '@relayger/api/testing';
import { BEHIND_PROXY, from, openIdentity, openToken, register } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi(BEHIND_PROXY);
});
afterAll(() => t.close());

type Agent = Awaited<ReturnType<typeof register>>;

async function signIn({ number, password }: Agent) {
  return (await t.api.call('login', { body: { number, password }, expect: 200 })).body.token;
}

test('the summary shows secrets as present and every open session', async () => {
  const agent = await register(t);
  const second = await signIn(agent);
  await t.api.call('revokeSessions', {
    token: await signIn(agent),
    body: { session: 'current' },
    expect: 200,
  });
  const { body, text } = await t.api.call('getSecurity', { token: second, expect: 200 });
  expect(body).toMatchObject({
    number: agent.number,
    hasPassword: true,
    hasRecoveryKey: true,
    email: null,
    pendingEmail: null,
    recommended: [],
  });
  expect(body.sessions.map(({ current }) => current)).toEqual([true, false]);
  for (const secret of [agent.password, agent.recoveryKey, agent.token, second]) {
    expect(text).not.toContain(secret);
  }
  const bare = await openIdentity(t.database);
  const summary = await t.api.call('getSecurity', { token: bare.token, expect: 200 });
  expect(summary.body).toMatchObject({
    hasPassword: false,
    hasRecoveryKey: false,
    recommended: ['password', 'recovery_key'],
  });
});

test('the last use of a session is noted soon after, not within the request', async () => {
  const agent = await register(t);
  const lastUse = async () =>
    (await t.api.call('getSecurity', { token: agent.token, expect: 200 })).body.sessions[0]
      ?.lastUsedAt;
  expect(await lastUse()).toBeNull();
  await sleep(1_500);
  const noted = await lastUse();
  expect(Date.now() - Date.parse(noted as string)).toBeLessThan(5_000);
  // Once a minute is enough.
  await sleep(1_500);
  expect(await lastUse()).toBe(noted);
});

describe('password', () => {
  test('a change ends every other session and generates a password when none is given', async () => {
    const agent = await register(t);
    const others = [await signIn(agent), await signIn(agent)];
    const { body } = await t.api.call('changePassword', {
      token: agent.token,
      body: { current: agent.password },
      expect: 200,
    });
    expect(body.revokedSessions).toBe(2);
    for (const token of others) await t.api.call('getMe', { token, expect: 401 });
    await t.api.call('getMe', { token: agent.token, expect: 200 });
    const login = (password: string, expect: number) =>
      t.api.raw('POST', '/v1/login', { body: { number: agent.number, password }, expect });
    await login(agent.password, 401);
    await login(body.password as string, 200);

    const chosen = 'correct horse battery';
    const again = await t.api.call('changePassword', {
      token: agent.token,
      body: { current: body.password as string, password: chosen },
      expect: 200,
    });
    expect(again.body).toEqual({ revokedSessions: 1 });
    await login(chosen, 200);
  });

  test('a wrong current password changes nothing and counts as a failed sign-in', async () => {
    const agent = await register(t);
    const headers = from('192.0.2.1');
    for (let i = 0; i < 10; i++) {
      const body = i % 2 === 0 ? { current: 'wrong' } : { password: 'wrong' };
      const call = i % 2 === 0 ? 'changePassword' : 'rotateRecoveryKey';
      const refused = await t.api.call(call, { token: agent.token, headers, body, expect: 401 });
      expect(refused.body.error.code).toBe('invalid_credentials');
    }
    const locked = await t.api.call('changePassword', {
      token: agent.token,
      headers,
      body: { current: agent.password },
      expect: 429,
    });
    expect(locked.body.error.code).toBe('too_many_attempts');
    await t.api.call('rotateRecoveryKey', {
      token: agent.token,
      headers,
      body: { password: agent.password },
      expect: 429,
    });
    const credentials = { number: agent.number, password: agent.password };
    await t.api.call('login', { headers, body: credentials, expect: 429 });
    await t.api.call('login', { body: credentials, expect: 200 });
  });

  test('what is missing is refused without a guess', async () => {
    const agent = await register(t);
    const headers = from('192.0.2.2');
    for (let i = 0; i < 12; i++) {
      await t.api.call('changePassword', { token: agent.token, headers, body: {}, expect: 401 });
    }
    await t.api.call('changePassword', {
      token: agent.token,
      headers,
      body: { current: agent.password },
      expect: 200,
    });
  });

  test('a weak new password is refused before anything is checked', async () => {
    const agent = await register(t);
    for (const password of ['short', `x-${agent.number}-yz`, `My-${agent.handle}`]) {
      const body = { current: agent.password, password };
      const refused = await t.api.call('changePassword', { token: agent.token, body, expect: 400 });
      expect(refused.body.error.code).toBe('weak_password');
    }
    await signIn(agent);
  });

  test('of two changes at the same moment one wins and the other learns it', async () => {
    const agent = await register(t);
    const tokens = [agent.token, await signIn(agent)];
    const replies = await Promise.all(
      tokens.map((token) =>
        t.api.raw('POST', '/v1/me/password', { token, body: { current: agent.password } }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  test('sign-ins during a change leave no session behind that it should have ended', async () => {
    const agent = await register(t);
    const body = { number: agent.number, password: agent.password };
    const logins = Array.from({ length: 8 }, () => t.api.raw('POST', '/v1/login', { body }));
    await t.api.call('changePassword', {
      token: agent.token,
      headers: from('192.0.2.3'),
      body: { current: agent.password },
      expect: 200,
    });
    await Promise.all(logins);
    const where = { identityId: agent.id, revokedAt: null };
    expect(await t.database.prisma.accessToken.count({ where })).toBe(1);
  });
});

describe('recovery key', () => {
  test('a new key replaces the old one and ends no session', async () => {
    const agent = await register(t);
    const { body } = await t.api.call('rotateRecoveryKey', {
      token: agent.token,
      body: { password: agent.password },
      expect: 200,
    });
    expect(body.recoveryKey).toMatch(/^RK(-[2-9A-Z]{4}){6}$/);
    await t.api.call('getMe', { token: agent.token, expect: 200 });
    const { number } = agent;
    await t.api.call('recover', { body: { number, recoveryKey: agent.recoveryKey }, expect: 401 });
    await t.api.call('recover', { body: { number, recoveryKey: body.recoveryKey }, expect: 200 });
  });
});

describe('an account without a password', () => {
  test('sets its first secrets with a full agent token, current not checked', async () => {
    const { number, token } = await openIdentity(t.database);
    const key = await t.api.call('rotateRecoveryKey', { token, body: {}, expect: 200 });
    const { body } = await t.api.call('changePassword', {
      token,
      body: { current: '' },
      expect: 200,
    });
    const password = body.password as string;
    await t.api.call('login', { body: { number, password }, expect: 200 });
    const { recoveryKey } = key.body;
    await t.api.call('recover', { body: { number, recoveryKey }, expect: 200 });
  });

  test('does not let a narrow token grow into a sign-in', async () => {
    const { id, token } = await openIdentity(t.database);
    const narrow = await openToken(t.database, id, { scopes: ['read', 'write'] });
    for (const call of ['changePassword', 'rotateRecoveryKey'] as const) {
      const refused = await t.api.call(call, { token: narrow, body: {}, expect: 403 });
      expect(refused.body.error.code).toBe('full_agent_token_required');
    }
    const first = await t.api.call('changePassword', { token, body: {}, expect: 200 });
    expect(first.body.revokedSessions).toBe(1);
    // With the password in hand a narrow token is as good as any.
    const again = await openToken(t.database, id, { scopes: ['write'] });
    const current = first.body.password as string;
    await t.api.call('changePassword', { token: again, body: { current }, expect: 200 });
  });

  test('gets one first password, whoever sets it at the same moment', async () => {
    const { id, token } = await openIdentity(t.database);
    const tokens = [token, await openToken(t.database, id), await openToken(t.database, id)];
    const replies = await Promise.all(
      tokens.map((each) => t.api.raw('POST', '/v1/me/password', { token: each, body: {} })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });
});

describe('sessions', () => {
  const revoke = (token: string, session: string, expect: number) =>
    t.api.raw('POST', '/v1/me/sessions/revoke', { token, body: { session }, expect });

  test('others, the current one, or one by its id', async () => {
    const agent = await register(t);
    const [second, third] = [await signIn(agent), await signIn(agent)];
    const { body } = await t.api.call('getSecurity', { token: third, expect: 200 });
    const secondId = body.sessions[1]?.id as string;

    expect((await revoke(third, secondId, 200)).body).toEqual({ revokedSessions: 1 });
    await t.api.call('getMe', { token: second, expect: 401 });
    // A retry after a lost reply.
    expect((await revoke(third, secondId, 200)).body).toEqual({ revokedSessions: 0 });

    expect((await revoke(third, 'others', 200)).body).toEqual({ revokedSessions: 1 });
    await t.api.call('getMe', { token: agent.token, expect: 401 });
    expect((await revoke(third, 'current', 200)).body).toEqual({ revokedSessions: 1 });
    await t.api.call('getMe', { token: third, expect: 401 });
  });

  test('not those of others', async () => {
    const [agent, stranger] = [await register(t), await register(t)];
    const { body } = await t.api.call('getSecurity', { token: stranger.token, expect: 200 });
    for (const id of [body.sessions[0]?.id as string, randomUUID()]) {
      const refused = await t.api.call('revokeSessions', {
        token: agent.token,
        body: { session: id },
        expect: 404,
      });
      expect(refused.body.error.code).toBe('not_found');
    }
    await t.api.call('getMe', { token: stranger.token, expect: 200 });
    await revoke(agent.token, 'all', 400);
  });
});

describe('who may', () => {
  const calls = [
    ['getSecurity', undefined],
    ['changePassword', {}],
    ['rotateRecoveryKey', {}],
    ['revokeSessions', { session: 'others' }],
  ] as const;

  test.each(calls)('%s: not a token that only reads', async (call, body) => {
    const { token } = await openIdentity(t.database, { scopes: ['read'] });
    const refused = await t.api.call(call, { token, body, expect: 403 });
    expect(refused.body.error).toMatchObject({
      code: 'insufficient_scope',
      details: { required: ['write'] },
    });
  });

  test.each(calls)('%s: not a token that is confined to rooms', async (call, body) => {
    const { token } = await openIdentity(t.database, { roomIds: [randomUUID()] });
    const refused = await t.api.call(call, { token, body, expect: 403 });
    expect(refused.body.error.code).toBe('room_restricted_token');
  });

  test.each(calls)('%s: not a human', async (call, body) => {
    const { token } = await openIdentity(t.database, { kind: 'human' });
    const refused = await t.api.call(call, { token, body, expect: 403 });
    expect(refused.body.error.code).toBe('agent_only');
  });

  test.each(calls.slice(1))('%s: not with unknown fields', async (call, body) => {
    const { token } = await openIdentity(t.database);
    const more = { ...body, role: 'admin' };
    const refused = await t.api.call(call, { token, body: more, expect: 400 });
    expect(refused.body.error.code).toBe('invalid_request');
  });

  test.each(calls)('%s: not nobody', async (call, body) => {
    await t.api.call(call, { body, expect: 401 });
  });
});
