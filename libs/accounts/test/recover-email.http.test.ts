import { startTestApi, type TestApi } from '@relayger/api/testing';
import { type MailSink, startMailSink } from '@relayger/kernel/testing';
import { freshAddress, protect, protectedAgent, recoveryCodeFor } from './email-support.js';
import { BEHIND_PROXY, freeNumber, from, passTime, register } from './support.js';

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

/** Resolves once every request for a code has been looked at. */
async function requestsDone(): Promise<void> {
  for (;;) {
    const { rowCount } = await t.database.pool.query('SELECT FROM code_requests');
    if (rowCount === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a mailed code brings back the account, ends every session and replaces the key', async () => {
  const agent = await protectedAgent(t, sink);
  const asked = await t.api.call('requestRecoveryCode', {
    body: { number: agent.number },
    expect: 200,
  });
  expect(asked.body).toEqual({ ok: true });
  const code = await sink.codeFor(agent.address, 2);
  expect(code).toMatch(/^[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}$/);

  const { body } = await t.api.call('recover', {
    body: { number: agent.number, code },
    expect: 200,
  });
  expect(Object.keys(body).sort()).toEqual(
    ['expiresAt', 'handle', 'id', 'number', 'password', 'recoveryKey', 'token'].sort(),
  );
  expect(body.id).toBe(agent.id);
  await t.api.call('getMe', { token: agent.token, expect: 401 });
  await t.api.call('getMe', { token: body.token, expect: 200 });
  await t.api.call('login', {
    body: { number: agent.number, password: agent.password },
    expect: 401,
  });
  const { number, recoveryKey } = agent;
  await t.api.call('recover', { body: { number, recoveryKey }, expect: 401 });

  const used = await t.api.call('recover', { body: { number, code }, expect: 401 });
  expect(used.body.error.code).toBe('invalid_credentials');
});

test('wrong codes do not use up the right one, nor does asking for another', async () => {
  const { number, address } = await protectedAgent(t, sink);
  const first = await recoveryCodeFor(t, sink, number, address);
  await recoveryCodeFor(t, sink, number, address);
  for (const code of [WRONG, 'nonsense']) {
    await t.api.call('recover', { body: { number, code }, expect: 401 });
  }
  const body = { number, code: ` ${first.toLowerCase().replace('-', '')}` };
  await t.api.call('recover', { body, expect: 200 });
});

test('a recovery ends every other code of the account', async () => {
  const { number, address, recoveryKey } = await protectedAgent(t, sink);
  const first = await recoveryCodeFor(t, sink, number, address);
  const second = await recoveryCodeFor(t, sink, number, address);
  await t.api.call('recover', { body: { number, code: second }, expect: 200 });
  await t.api.call('recover', { body: { number, code: first }, expect: 401 });
  await t.api.call('recover', { body: { number, recoveryKey }, expect: 401 });
});

test('of many recoveries with one code exactly one succeeds', async () => {
  const { number, address } = await protectedAgent(t, sink);
  const code = await recoveryCodeFor(t, sink, number, address);
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => t.api.raw('POST', '/v1/recover', { body: { number, code } })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
});

test('a code lasts a quarter of an hour', async () => {
  const { number, address } = await protectedAgent(t, sink);
  const code = await recoveryCodeFor(t, sink, number, address);
  const { rows } = await t.database.pool.query<{ left: number }>(
    `SELECT extract(epoch FROM expires_at - created_at)::int AS left FROM email_codes WHERE address = $1`,
    [address],
  );
  expect(rows).toEqual([{ left: 900 }]);
  await t.database.pool.query(
    `UPDATE email_codes SET expires_at = expires_at - interval '15 minutes' WHERE address = $1`,
    [address],
  );
  await t.api.call('recover', { body: { number, code }, expect: 401 });
});

test('a code to the address before opens nothing once there is another', async () => {
  const agent = await protectedAgent(t, sink);
  const code = await recoveryCodeFor(t, sink, agent.number, agent.address);
  await protect(t, sink, agent, freshAddress());
  await t.api.call('recover', { body: { number: agent.number, code }, expect: 401 });
  // And not when the first one comes back.
  await protect(t, sink, agent, agent.address);
  await t.api.call('recover', { body: { number: agent.number, code }, expect: 401 });
});

test('a verification code recovers nothing and a recovery code verifies nothing', async () => {
  const agent = await protectedAgent(t, sink);
  const { token, password, number } = agent;
  const code = await recoveryCodeFor(t, sink, number, agent.address);
  await t.api.call('verifyRecoveryEmail', { token, body: { code }, expect: 400 });
  const next = freshAddress();
  await t.api.call('setRecoveryEmail', { token, body: { email: next, password }, expect: 200 });
  const verification = await sink.codeFor(next);
  await t.api.call('recover', { body: { number, code: verification }, expect: 401 });
});

test('only a verified address gets a code', async () => {
  const { token, password, number } = await register(t);
  const address = freshAddress();
  await t.api.call('setRecoveryEmail', { token, body: { email: address, password }, expect: 200 });
  await sink.waitFor(address);
  await t.api.call('requestRecoveryCode', { body: { number }, expect: 200 });
  await t.api.call('requestRecoveryCode', { body: { number: freeNumber() }, expect: 200 });
  await requestsDone();
  const { rows } = await t.database.pool.query(
    `SELECT purpose FROM email_codes WHERE address = $1`,
    [address],
  );
  expect(rows).toEqual([{ purpose: 'verification' }]);
});

test('a weak password is refused without using up the code or an attempt', async () => {
  const { number, handle, address } = await protectedAgent(t, sink);
  const code = await recoveryCodeFor(t, sink, number, address);
  const headers = from('192.0.2.70');
  for (let i = 0; i < 12; i++) {
    const body = { number, code, password: i % 2 ? 'short' : `My-${handle}-1` };
    const refused = await t.api.call('recover', { headers, body, expect: 400 });
    expect(refused.body.error.code).toBe('weak_password');
  }
  await t.api.call('recover', {
    headers,
    body: { number, code, password: 'correct horse battery' },
    expect: 200,
  });
});

test('exactly one of key and code, and numbers that are numbers', async () => {
  const { number } = await register(t);
  for (const body of [{ number }, { number, code: WRONG, recoveryKey: 'RK-WRONG' }]) {
    const refused = await t.api.call('recover', { body, expect: 400 });
    expect(refused.body.error.code).toBe('invalid_request');
  }
  const mistyped = number.slice(0, 9) + ((Number(number[9]) + 1) % 10);
  for (const [wrong, code] of [
    [mistyped, 'invalid_number_check_digit'],
    ['123', 'invalid_number'],
  ] as const) {
    const asked = await t.api.call('requestRecoveryCode', { body: { number: wrong }, expect: 400 });
    expect(asked.body.error.code).toBe(code);
    const tried = await t.api.call('recover', {
      body: { number: wrong, code: WRONG },
      expect: 400,
    });
    expect(tried.body.error.code).toBe(code);
  }
  await t.api.call('requestRecoveryCode', { body: {}, expect: 400 });
});

test('ten wrong codes an hour lock this client out of the recovery, not out of the sign-in', async () => {
  const { number, password, recoveryKey, address } = await protectedAgent(t, sink);
  const code = await recoveryCodeFor(t, sink, number, address);
  const headers = from('192.0.2.80');
  const replies = await Promise.all(
    Array.from({ length: 50 }, () =>
      t.api.raw('POST', '/v1/recover', { headers, body: { number, code: WRONG } }),
    ),
  );
  expect(replies.filter(({ status }) => status === 401)).toHaveLength(10);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(40);
  await t.api.call('recover', { headers, body: { number, code }, expect: 429 });
  await t.api.call('recover', { headers, body: { number, recoveryKey }, expect: 429 });
  await t.api.call('login', { headers, body: { number, password }, expect: 200 });
  await t.api.call('recover', { headers: from('192.0.2.81'), body: { number, code }, expect: 200 });
});

test('a thousand wrong codes from everywhere lock the codes of a number, but not its key or password', async () => {
  const { number, password, recoveryKey, address } = await protectedAgent(t, sink);
  const code = await recoveryCodeFor(t, sink, number, address);
  // 1000 attempts of 1000 clients, the last ten over HTTP.
  await t.api.call('recover', {
    headers: from('198.51.100.1'),
    body: { number, code: WRONG },
    expect: 401,
  });
  const { rowCount } = await t.database.pool.query(
    `UPDATE limit_counters SET count = 990
      WHERE key = sha256(convert_to(E'recovery_code\\nnumber\\n' || $1, 'UTF8'))`,
    [number],
  );
  expect(rowCount).toBe(1);
  for (let i = 0; i < 10; i++) {
    const headers = from(`198.51.100.${10 + i}`);
    await t.api.call('recover', { headers, body: { number, code: WRONG }, expect: 401 });
  }
  const headers = from('198.51.100.99');
  const locked = await t.api.call('recover', { headers, body: { number, code }, expect: 429 });
  expect(locked.body.error.code).toBe('too_many_attempts');
  await t.api.call('login', { headers, body: { number, password }, expect: 200 });
  await t.api.call('recover', { headers, body: { number, recoveryKey }, expect: 200 });
  await passTime(t.database, 3_600_000);
});

test('one address gets ten recovery codes an hour, and the answer is the same beyond that', async () => {
  const { number, address } = await protectedAgent(t, sink);
  for (let i = 0; i < 12; i++) {
    const { body } = await t.api.call('requestRecoveryCode', { body: { number }, expect: 200 });
    expect(body).toEqual({ ok: true });
  }
  await requestsDone();
  // The verification, and ten.
  expect(await sink.waitFor(address, 11)).toHaveLength(11);
  const { rows } = await t.database.pool.query(
    `SELECT count(*)::int AS codes FROM email_codes WHERE address = $1`,
    [address],
  );
  expect(rows).toEqual([{ codes: 10 }]);
});

test('one client has a hundred requests an hour looked at, and the answer is the same beyond that', async () => {
  const { number, address } = await protectedAgent(t, sink);
  const headers = from('2001:db8:1:2::1');
  for (let i = 0; i < 100; i += 20) {
    await Promise.all(
      Array.from({ length: 20 }, () =>
        t.api.call('requestRecoveryCode', { headers, body: { number: freeNumber() }, expect: 200 }),
      ),
    );
  }
  // The same /64 is the same client.
  const same = from('2001:db8:1:2:3:4:5:6');
  await t.api.call('requestRecoveryCode', { headers: same, body: { number }, expect: 200 });
  await requestsDone();
  expect(await sink.waitFor(address)).toHaveLength(1);
  await t.api.call('requestRecoveryCode', {
    headers: from('2001:db8:1:3::1'),
    body: { number },
    expect: 200,
  });
  await sink.waitFor(address, 2);
});
