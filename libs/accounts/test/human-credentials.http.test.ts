import {
  openToken,
  registerHuman,
  signIn,
  startTestApi,
  type TestApi,
  type TestHuman,
} from '@relayger/api/testing';
import { HUMAN_SCOPES } from '@relayger/protocol';
import { BEHIND_PROXY, from, tally } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi(BEHIND_PROXY);
});
afterAll(() => t.close());

const NEXT = 'the next password 2027';
const WRONG = 'not the right password';
let clients = 0;
const newClient = () => from(`10.4.${clients >> 8}.${clients++ & 255}`);

function change(human: TestHuman, headers: Record<string, string>, more: object = {}) {
  const { email, password } = human;
  const body = { email, password, newPassword: NEXT, ...more };
  return t.api.raw('POST', '/v1/human/password', { headers, body });
}

function recover(email: string, recoveryKey: string, headers = newClient(), newPassword = NEXT) {
  return t.api.raw('POST', '/v1/human/recover', {
    headers,
    body: { email, recoveryKey, newPassword },
  });
}

test('a new password ends every token and every other session, and brings a new recovery key', async () => {
  const human = await registerHuman(t);
  const [here, elsewhere] = [await signIn(t, human), await signIn(t, human)];
  const second = await openToken(t, human, { scopes: HUMAN_SCOPES });
  const { body } = await t.api.call('changeHumanPassword', {
    headers: here,
    body: { email: human.email, password: human.password, newPassword: NEXT },
    expect: 200,
  });
  expect(body).toEqual({ recoveryKey: expect.stringMatching(/^RK(-[2-9A-HJKMNP-Z]{4}){6}$/) });

  for (const token of [human.token, second]) await t.api.call('getMe', { token, expect: 401 });
  await t.api.call('getMe', { headers: elsewhere, expect: 401 });
  await t.api.call('getMe', { headers: here, expect: 200 });
  await expect(signIn(t, human)).rejects.toThrow('status 401');
  await signIn(t, { ...human, password: NEXT });
  expect((await recover(human.email, human.recoveryKey)).status).toBe(401);
  expect((await recover(human.email, body.recoveryKey)).status).toBe(200);
});

test('a session that was opened with a token outlives it when its person changes the password', async () => {
  const human = await registerHuman(t);
  const opened = await t.api.call('openWebSession', { token: human.token, expect: 201 });
  const headers = {
    origin: t.origin,
    cookie: opened.headers['set-cookie']?.[0]?.split(';')[0] ?? '',
  };
  expect((await change(human, headers)).status).toBe(200);
  await t.api.call('getMe', { token: human.token, expect: 401 });
  await t.api.call('getMe', { headers, expect: 200 });
});

test('what is missing or wrong in a request is named', async () => {
  const headers = await signIn(t, await registerHuman(t));
  const email = { email: 'grace' };
  const login = await t.api.call('humanLogin', { headers, body: email, expect: 400 });
  const change = await t.api.call('changeHumanPassword', { headers, body: email, expect: 400 });
  const recovery = await t.api.call('recoverHuman', { body: email, expect: 400 });
  const paths = [login, change, recovery].map(({ body }) => {
    const { issues } = body.error.details as { issues: { path: string }[] };
    return issues.map(({ path }) => path);
  });
  expect(paths).toEqual([
    ['body.email', 'body.password'],
    ['body.email', 'body.password', 'body.newPassword'],
    ['body.email', 'body.recoveryKey', 'body.newPassword'],
  ]);
});

test('a token does not change the password, not even with it', async () => {
  const human = await registerHuman(t);
  const { email, password, token } = human;
  const body = { email, password, newPassword: NEXT };
  const reply = await t.api.call('changeHumanPassword', { token, body, expect: 403 });
  expect(reply.body.error.code).toBe('session_required');
  await t.api.call('changeHumanPassword', { body, expect: 401 });
  const agent = await t.agent();
  const narrow = await t.api.call('changeHumanPassword', {
    token: agent.token,
    body,
    expect: 403,
  });
  expect(narrow.body.error.code).toBe('insufficient_scope');
});

test('the password in force and the own address are asked for, and ten wrong ones are the end', async () => {
  const [human, other] = [await registerHuman(t), await registerHuman(t)];
  const browser = await signIn(t, human);
  for (const wrong of [
    { password: WRONG },
    { email: 'nobody@example.com' },
    { email: other.email, password: other.password },
  ]) {
    const reply = await t.api.call('changeHumanPassword', {
      headers: { ...browser, ...newClient() },
      body: { email: human.email, password: human.password, newPassword: NEXT, ...wrong },
      expect: 401,
    });
    expect(reply.body.error.code).toBe('invalid_credentials');
  }
  const headers = { ...browser, ...newClient() };
  const guesses = await Promise.all(
    Array.from({ length: 12 }, () => change(human, headers, { password: WRONG })),
  );
  expect(tally(guesses)).toEqual({ 401: 10, 429: 2 });
  // Counted together with failed sign-ins.
  const login = await t.api.call('humanLogin', {
    headers: { ...headers, cookie: '' },
    body: { email: human.email, password: human.password },
    expect: 429,
  });
  expect(login.body.error.code).toBe('too_many_attempts');
  const locked = await change(human, headers);
  expect(locked.status).toBe(429);
  expect((await change(human, { ...browser, ...newClient() })).status).toBe(200);
});

test('a weak new password changes nothing and is no attempt', async () => {
  const human = await registerHuman(t);
  const headers = await signIn(t, human);
  for (const newPassword of ['short', 'aaaaaaaaaaaab', `my ${human.number} x`, human.handle]) {
    const reply = await t.api.call('changeHumanPassword', {
      headers,
      body: { email: human.email, password: human.password, newPassword },
      expect: 400,
    });
    expect(reply.body.error.code).toBe('weak_password');
  }
  await t.api.call('getMe', { token: human.token, expect: 200 });
});

test('of two password changes at once one is made', async () => {
  const human = await registerHuman(t);
  const headers = await signIn(t, human);
  const replies = await Promise.all(
    ['first of two 2027', 'second of two 2027'].map((newPassword) =>
      change(human, headers, { newPassword }),
    ),
  );
  expect(tally(replies)).toEqual({ 200: 1, 401: 1 });
});

test('the recovery key sets a new password once, ends everything and opens nothing', async () => {
  const human = await registerHuman(t);
  const browser = await signIn(t, human);
  const spelled = human.recoveryKey.slice(3).toLowerCase().replaceAll('-', ' ');
  const reply = await t.api.call('recoverHuman', {
    body: { email: human.email.toUpperCase(), recoveryKey: spelled, newPassword: NEXT },
    expect: 200,
  });
  expect(Object.keys(reply.body)).toEqual(['recoveryKey']);
  expect(reply.headers['set-cookie']).toBeUndefined();
  await t.api.call('getMe', { token: human.token, expect: 401 });
  await t.api.call('getMe', { headers: browser, expect: 401 });
  await expect(signIn(t, human)).rejects.toThrow('status 401');
  await signIn(t, { ...human, password: NEXT });
  expect((await recover(human.email, human.recoveryKey)).status).toBe(401);
  expect((await recover(human.email, reply.body.recoveryKey)).status).toBe(200);
});

test('a refused password does not use the key up; of many recoveries with one key one succeeds', async () => {
  const human = await registerHuman(t);
  for (const newPassword of ['short', human.handle, `x ${human.number} yz`]) {
    const reply = await t.api.call('recoverHuman', {
      headers: newClient(),
      body: { email: human.email, recoveryKey: human.recoveryKey, newPassword },
      expect: 400,
    });
    expect(reply.body.error.code).toBe('weak_password');
  }
  const replies = await Promise.all(
    Array.from({ length: 6 }, () => recover(human.email, human.recoveryKey)),
  );
  expect(tally(replies)).toEqual({ 200: 1, 401: 5 });
});

test('wrong keys are counted apart from wrong passwords, for known and unknown addresses alike', async () => {
  const human = await registerHuman(t);
  for (const email of [human.email, 'nobody@example.com']) {
    const client = newClient();
    const wrong = await Promise.all(
      Array.from({ length: 12 }, () => recover(email, 'RK-WRONG', client)),
    );
    expect(tally(wrong)).toEqual({ 401: 10, 429: 2 });
    const locked = await t.api.call('recoverHuman', {
      headers: client,
      body: { email, recoveryKey: human.recoveryKey, newPassword: NEXT },
      expect: 429,
    });
    expect(locked.body.error.code).toBe('too_many_attempts');
    const headers = { origin: t.origin, ...client };
    const login = { email, password: WRONG };
    await t.api.call('humanLogin', { headers, body: login, expect: 401 });
  }
});

test('sign-ins during a recovery leave no session behind that it should have ended', async () => {
  const human = await registerHuman(t);
  const { email, password } = human;
  const logins = Array.from({ length: 6 }, () =>
    t.api.raw('POST', '/v1/human/login', {
      headers: { origin: t.origin, ...newClient() },
      body: { email, password },
    }),
  );
  const recovery = recover(email, human.recoveryKey);
  const replies = await Promise.all(logins);
  expect((await recovery).status).toBe(200);
  for (const { headers } of replies.filter(({ status }) => status === 200)) {
    const cookie = headers['set-cookie']?.[0]?.split(';')[0];
    await t.api.call('getMe', { headers: { cookie }, expect: 401 });
  }
});
