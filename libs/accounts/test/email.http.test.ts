import { startTestApi, type TestApi } from '@relayger/api/testing';
import { type MailSink, startMailSink } from '@relayger/kernel/testing';
import { freshAddress, protect, protectedAgent, recoveryCodeFor } from './email-support.js';
import { BEHIND_PROXY, from, openIdentity, openToken, register } from './support.js';

let sink: MailSink;
let t: TestApi;
beforeAll(async () => {
  sink = await startMailSink();
  t = await startTestApi({ ...BEHIND_PROXY, SMTP_URL: sink.url });
});
afterAll(async () => {
  await t.close();
  await sink.stop();
});

const WRONG = '2222-2222';

async function emailOf(token: string) {
  const { body } = await t.api.call('getSecurity', { token, expect: 200 });
  return { email: body.email, pendingEmail: body.pendingEmail, recommended: body.recommended };
}

test('an address counts once its code has come back', async () => {
  const { token, password, number, handle } = await register(t);
  const address = freshAddress();
  expect(await emailOf(token)).toEqual({
    email: null,
    pendingEmail: null,
    recommended: ['recovery_email'],
  });

  const asked = await t.api.call('setRecoveryEmail', {
    token,
    body: { email: address, password },
    expect: 200,
  });
  expect(asked.body).toEqual({ ok: true, state: 'code_sent' });
  expect(await emailOf(token)).toMatchObject({ email: null, pendingEmail: address });

  const [mail] = await sink.waitFor(address);
  expect(mail?.to).toEqual([address]);
  for (const part of [mail?.text, mail?.html]) {
    expect(part).toContain(number);
    expect(part).toContain(`@${handle}`);
    expect(part).toContain(t.origin);
  }
  const code = await sink.codeFor(address);
  const verified = await t.api.call('verifyRecoveryEmail', { token, body: { code }, expect: 200 });
  expect(verified.body).toEqual({ ok: true, email: address });
  expect(await emailOf(token)).toEqual({
    email: { address, verified: true },
    pendingEmail: null,
    recommended: [],
  });
});

test('a code works once, whatever its spelling; wrong ones do not use it up', async () => {
  const { token, password } = await register(t);
  const address = freshAddress();
  await t.api.call('setRecoveryEmail', { token, body: { email: address, password }, expect: 200 });
  const code = await sink.codeFor(address);
  for (const wrong of [WRONG, 'nonsense', `${code}2`]) {
    const { body } = await t.api.call('verifyRecoveryEmail', {
      token,
      body: { code: wrong },
      expect: 400,
    });
    expect(body.error.code).toBe('invalid_code');
  }
  const spelled = ` ${code.replace('-', ' ').toLowerCase()}`;
  await t.api.call('verifyRecoveryEmail', { token, body: { code: spelled }, expect: 200 });
  const again = await t.api.call('verifyRecoveryEmail', { token, body: { code }, expect: 400 });
  expect(again.body.error.code).toBe('invalid_code');
});

test('a code is worth nothing to another account, and nothing after a quarter of an hour', async () => {
  const [mine, other] = [await register(t), await register(t)];
  const address = freshAddress();
  const body = { email: address, password: mine.password };
  await t.api.call('setRecoveryEmail', { token: mine.token, body, expect: 200 });
  const code = await sink.codeFor(address);
  await t.api.call('verifyRecoveryEmail', { token: other.token, body: { code }, expect: 400 });

  const age = (seconds: number) =>
    t.database.pool.query(
      `UPDATE email_codes SET expires_at = expires_at - make_interval(secs => $1) WHERE address = $2`,
      [seconds, address],
    );
  await age(895);
  expect((await emailOf(mine.token)).pendingEmail).toBe(address);
  await age(10);
  expect((await emailOf(mine.token)).pendingEmail).toBeNull();
  await t.api.call('verifyRecoveryEmail', { token: mine.token, body: { code }, expect: 400 });
});

test('another address takes the place of the one that awaits its code', async () => {
  const { token, password } = await register(t);
  const [first, second] = [freshAddress(), freshAddress()];
  await t.api.call('setRecoveryEmail', { token, body: { email: first, password }, expect: 200 });
  const old = await sink.codeFor(first);
  await t.api.call('setRecoveryEmail', { token, body: { email: second, password }, expect: 200 });
  await t.api.call('verifyRecoveryEmail', { token, body: { code: old }, expect: 400 });
  const code = await sink.codeFor(second);
  await t.api.call('verifyRecoveryEmail', { token, body: { code }, expect: 200 });
});

test('a second code for the same address leaves the first one good', async () => {
  const { token, password } = await register(t);
  const address = freshAddress();
  const body = { email: address, password };
  await t.api.call('setRecoveryEmail', { token, body, expect: 200 });
  const first = await sink.codeFor(address);
  await t.api.call('setRecoveryEmail', { token, body, expect: 200 });
  await t.api.call('verifyRecoveryEmail', { token, body: { code: first }, expect: 200 });
});

test('one address may protect several accounts', async () => {
  const address = freshAddress();
  const one = await protectedAgent(t, sink, address);
  const two = await protectedAgent(t, sink, address);
  for (const { token } of [one, two]) {
    expect((await emailOf(token)).email).toEqual({ address, verified: true });
  }
  const code = await recoveryCodeFor(t, sink, two.number, address);
  await t.api.call('recover', { body: { number: one.number, code }, expect: 401 });
  await t.api.call('recover', { body: { number: two.number, code }, expect: 200 });
});

test('the password is asked for, and a wrong one counts as a failed sign-in', async () => {
  const { token, password, number } = await register(t);
  const client = from('192.0.2.50');
  for (let i = 0; i < 5; i++) {
    for (const [operation, body] of [
      ['setRecoveryEmail', { email: freshAddress(), password: 'wrong password' }],
      ['removeRecoveryEmail', { password: 'wrong password' }],
    ] as const) {
      const { body: refused } = await t.api.raw(
        operation === 'setRecoveryEmail' ? 'POST' : 'DELETE',
        '/v1/me/email',
        { token, headers: client, body, expect: 401 },
      );
      expect(refused).toMatchObject({ error: { code: 'invalid_credentials' } });
    }
  }
  await t.api.call('setRecoveryEmail', {
    token,
    headers: client,
    body: { email: freshAddress(), password },
    expect: 429,
  });
  await t.api.call('removeRecoveryEmail', {
    token,
    headers: client,
    body: { password },
    expect: 429,
  });
  await t.api.call('removeRecoveryEmail', { token, headers: client, body: {}, expect: 401 });
  await t.api.call('login', { headers: client, body: { number, password }, expect: 429 });
});

test('removing the address ends its codes; removing none is fine', async () => {
  const agent = await protectedAgent(t, sink);
  const { token, password, number, address } = agent;
  const code = await recoveryCodeFor(t, sink, number, address);
  await t.api.call('removeRecoveryEmail', { token, body: { password }, expect: 200 });
  expect(await emailOf(token)).toMatchObject({ email: null, recommended: ['recovery_email'] });
  const [notice] = (await sink.waitFor(address, 3)).slice(-1);
  expect(notice?.headers.subject).toBe('Your recovery address was removed');
  await t.api.call('recover', { body: { number, code }, expect: 401 });
  await t.api.call('removeRecoveryEmail', { token, body: { password }, expect: 200 });
});

test('eleven wrong codes from one client are one too many; another client goes on', async () => {
  const { token, password } = await register(t);
  const address = freshAddress();
  await t.api.call('setRecoveryEmail', { token, body: { email: address, password }, expect: 200 });
  const code = await sink.codeFor(address);
  const client = from('192.0.2.60');
  const replies = await Promise.all(
    Array.from({ length: 50 }, () =>
      t.api.raw('POST', '/v1/me/email/verify', { token, headers: client, body: { code: WRONG } }),
    ),
  );
  expect(replies.filter(({ status }) => status === 400)).toHaveLength(10);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(40);
  await t.api.call('verifyRecoveryEmail', { token, headers: client, body: { code }, expect: 429 });
  await t.api.call('verifyRecoveryEmail', {
    token,
    headers: from('192.0.2.61'),
    body: { code },
    expect: 200,
  });
});

test('who may manage an address: agents, with a token that is neither narrow nor restricted', async () => {
  const human = await openIdentity(t.database, { kind: 'human' });
  const opened = await openIdentity(t.database);
  const email = freshAddress();
  const narrow = await openToken(t.database, opened.id, { scopes: ['read', 'write'] });
  const restricted = await openToken(t.database, opened.id, { roomIds: [] });
  const readOnly = await openToken(t.database, opened.id, { scopes: ['read'] });

  const cases = [
    [human.token, 'agent_only'],
    [narrow, 'full_agent_token_required'],
    [restricted, 'room_restricted_token'],
    [readOnly, 'insufficient_scope'],
  ] as const;
  for (const [token, code] of cases) {
    const set = await t.api.call('setRecoveryEmail', { token, body: { email }, expect: 403 });
    expect(set.body.error.code).toBe(code);
    const removed = await t.api.call('removeRecoveryEmail', { token, body: {}, expect: 403 });
    expect(removed.body.error.code).toBe(code);
    if (code === 'full_agent_token_required') continue;
    const verified = await t.api.call('verifyRecoveryEmail', {
      token,
      body: { code: WRONG },
      expect: 403,
    });
    expect(verified.body.error.code).toBe(code);
  }
  // An account without a password sets its first address with a full token.
  await protect(t, sink, { token: opened.token, password: undefined as never }, email);
});

test('without a token nothing of an address is seen or changed', async () => {
  const token = `rly_${'x'.repeat(43)}`;
  const email = freshAddress();
  await t.api.call('setRecoveryEmail', { token, body: { email }, expect: 401 });
  await t.api.call('verifyRecoveryEmail', { token, body: { code: WRONG }, expect: 401 });
  await t.api.call('removeRecoveryEmail', { token, body: {}, expect: 401 });
});

test('what is no address, no code or an unknown field is refused', async () => {
  const { token, password } = await register(t);
  for (const email of [
    '',
    'nobody',
    'a@b',
    'a@b.example, c@d.example',
    `${'a'.repeat(250)}@b.example`,
    'a@b.example\r\nBcc: c@d.example',
  ]) {
    await t.api.call('setRecoveryEmail', { token, body: { email, password }, expect: 400 });
  }
  await t.api.call('verifyRecoveryEmail', { token, body: {}, expect: 400 });
  await t.api.call('removeRecoveryEmail', { token, body: { password, all: true }, expect: 400 });
});
