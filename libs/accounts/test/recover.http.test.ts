import { startTestApi, type TestApi } from '@relayger/api/testing';
import { BEHIND_PROXY, freeNumber, from, openIdentity, register, tally } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi(BEHIND_PROXY);
});
afterAll(() => t.close());

test('the recovery key brings back the account, ends every session and is replaced', async () => {
  const agent = await register(t);
  const second = await t.api.call('login', {
    body: { number: agent.number, password: agent.password },
    expect: 200,
  });
  const { body } = await t.api.call('recover', {
    body: { number: agent.number, recoveryKey: agent.recoveryKey },
    expect: 200,
  });
  expect(Object.keys(body).sort()).toEqual(
    ['expiresAt', 'handle', 'id', 'number', 'password', 'recoveryKey', 'token'].sort(),
  );
  expect(body).toMatchObject({ id: agent.id, number: agent.number, handle: agent.handle });
  for (const token of [agent.token, second.body.token]) {
    await t.api.call('getMe', { token, expect: 401 });
  }
  await t.api.call('getMe', { token: body.token, expect: 200 });
  const login = (password: string | undefined, expect: 200 | 401) =>
    t.api.raw('POST', '/v1/login', { body: { number: agent.number, password }, expect });
  await login(agent.password, 401);
  await login(body.password, 200);

  const again = await t.api.call('recover', {
    body: { number: agent.number, recoveryKey: agent.recoveryKey },
    expect: 401,
  });
  expect(again.body.error.code).toBe('invalid_credentials');
  await t.api.call('recover', {
    body: { number: agent.number, recoveryKey: body.recoveryKey },
    expect: 200,
  });
});

test('a chosen password is taken and not repeated; the spelling of the key does not count', async () => {
  const { number, recoveryKey } = await register(t);
  const spelled = ` ${recoveryKey.slice(3).toLowerCase().replaceAll('-', ' ')}`;
  const password = 'correct horse battery';
  const { body } = await t.api.call('recover', {
    body: { number, recoveryKey: spelled, password },
    expect: 200,
  });
  expect(body.password).toBeUndefined();
  await t.api.call('login', { body: { number, password }, expect: 200 });
});

test('a weak password is refused without using up the key or an attempt', async () => {
  const { number, handle, recoveryKey } = await register(t);
  const client = from('192.0.2.1');
  for (const password of ['short', 'aaaaabbbbbccccc', `${number}-secret`, `My-${handle}-1`]) {
    for (let i = 0; i < 4; i++) {
      const refused = await t.api.call('recover', {
        headers: client,
        body: { number, recoveryKey, password },
        expect: 400,
      });
      expect(refused.body.error.code).toBe('weak_password');
    }
  }
  await t.api.call('recover', { headers: client, body: { number, recoveryKey }, expect: 200 });
});

test('a password with the handle tells only the holder of the key that it is the handle', async () => {
  const { number, handle } = await register(t);
  const body = { number, recoveryKey: 'RK-WRONG', password: `My-${handle}-1` };
  const refused = await t.api.call('recover', { body, expect: 401 });
  expect(refused.body.error.code).toBe('invalid_credentials');
});

test('a wrong key, the key of another account, and numbers without one answer alike', async () => {
  const [mine, other] = [await register(t), await register(t)];
  const without = await openIdentity(t.database);
  const human = await openIdentity(t.database, { kind: 'human' });
  const numbers = [mine.number, freeNumber(), without.number, human.number];
  const bodies = await Promise.all(
    numbers.map(async (number) => {
      const body = { number, recoveryKey: other.recoveryKey };
      const reply = await t.api.call('recover', { body, expect: 401 });
      const { requestId: _, ...error } = reply.body.error;
      return JSON.stringify(error);
    }),
  );
  expect(new Set(bodies).size).toBe(1);
});

test('malformed numbers and requests are refused as such', async () => {
  const { number, recoveryKey } = await register(t);
  const code = async (body: unknown) =>
    (await t.api.call('recover', { body, expect: 400 })).body.error.code;
  expect(await code({ number: number.slice(1), recoveryKey })).toBe('invalid_number');
  const mistyped = number.slice(0, 9) + ((Number(number[9]) + 1) % 10);
  expect(await code({ number: mistyped, recoveryKey })).toBe('invalid_number_check_digit');
  expect(await code({ number })).toBe('invalid_request');
  expect(await code({ number, recoveryKey, role: 'admin' })).toBe('invalid_request');
});

test('of eight recoveries with one key at the same moment one succeeds', async () => {
  const { number, recoveryKey } = await register(t);
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      t.api.raw('POST', '/v1/recover', {
        headers: from(`198.51.100.${i}`),
        body: { number, recoveryKey },
      }),
    ),
  );
  expect(tally(replies)).toEqual({ 200: 1, 401: 7 });
});

test('sign-ins during a recovery leave no session behind that it should have ended', async () => {
  const agent = await register(t);
  const body = { number: agent.number, password: agent.password };
  const logins = Array.from({ length: 8 }, () => t.api.raw('POST', '/v1/login', { body }));
  const recovery = t.api.call('recover', {
    headers: from('192.0.2.9'),
    body: { number: agent.number, recoveryKey: agent.recoveryKey },
    expect: 200,
  });
  const recovered = await recovery;
  await Promise.all(logins);
  const open = await t.database.prisma.accessToken.findMany({
    where: { identityId: agent.id, revokedAt: null },
  });
  expect(open).toHaveLength(1);
  await t.api.call('getMe', { token: recovered.body.token, expect: 200 });
});
