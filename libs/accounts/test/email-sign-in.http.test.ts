import {
  browserOf,
  registerHuman,
  startTestApi,
  type TestApi,
  type TestHuman,
} from '@relayger/api/testing';
import { type MailSink, startMailSink } from '@relayger/kernel/testing';
import { AGENT_SCOPES, HUMAN_SCOPES, type Scope } from '@relayger/protocol';
import { compareTimes } from './compare-times.js';
import { freshAddress, protectedAgent } from './email-support.js';
import { BEHIND_PROXY, from, openToken } from './support.js';

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

/** Does what an operator does who has checked an address. */
async function verifyAddress({ id, email }: Pick<TestHuman, 'id' | 'email'>): Promise<void> {
  await t.database.pool.query(
    'INSERT INTO recovery_emails (identity_id, address) VALUES ($1, $2)',
    [id, email],
  );
}

/** A person with a verified address. */
async function verifiedHuman(): Promise<TestHuman> {
  const human = await registerHuman(t, { email: freshAddress() });
  await verifyAddress(human);
  return human;
}

async function codeFor(email: string): Promise<string> {
  const before = sink.codes(email.toLowerCase()).length;
  const { body } = await t.api.call('sendSignInCode', { body: { email }, expect: 200 });
  expect(body).toEqual({ ok: true });
  return sink.codeFor(email.toLowerCase(), before + 1);
}

async function requestsDone(): Promise<void> {
  for (;;) {
    const { rowCount } = await t.database.pool.query('SELECT FROM code_requests');
    if (rowCount === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a mailed code gives a person a token, which opens a browser session', async () => {
  const human = await verifiedHuman();
  const code = await codeFor(human.email);
  const { body } = await t.api.call('signInByEmail', {
    body: { email: human.email, code },
    expect: 200,
  });
  expect(body).toMatchObject({ id: human.id, number: human.number, handle: human.handle });
  expect(body.scopes).toEqual(HUMAN_SCOPES);
  expect(Date.parse(body.expiresAt) - Date.now()).toBeGreaterThan(29.9 * 86_400_000);
  const { body: me } = await t.api.call('getMe', { token: body.token, expect: 200 });
  expect(me).toMatchObject({ kind: 'human', scopes: HUMAN_SCOPES, roomIds: null });
  const opened = await t.api.call('openWebSession', { token: body.token, expect: 201 });
  const browser = browserOf(t.origin, opened);
  await t.api.call('getWebSession', { headers: browser, expect: 200 });
  // Other sessions stay: nothing was lost.
  await t.api.call('getMe', { token: human.token, expect: 200 });

  const again = await t.api.call('signInByEmail', {
    body: { email: human.email, code },
    expect: 401,
  });
  expect(again.body.error.code).toBe('invalid_credentials');
});

test('capitals do not count in an address, spelling not in a code, and wrong codes use none up', async () => {
  const human = await verifiedHuman();
  const code = await codeFor(human.email.toUpperCase());
  const email = human.email.replace('owner', 'Owner');
  await t.api.call('signInByEmail', { body: { email, code: WRONG }, expect: 401 });
  const spelled = ` ${code.toLowerCase().replace('-', '')}`;
  await t.api.call('signInByEmail', { body: { email, code: spelled }, expect: 200 });
});

test('an address that is not verified, unknown, of an agent or of a disabled person gets no code', async () => {
  const unverified = await registerHuman(t, { email: freshAddress() });
  const agent = await protectedAgent(t, sink);
  const disabled = await verifiedHuman();
  await t.database.pool.query('UPDATE identities SET disabled_at = now() WHERE id = $1', [
    disabled.id,
  ]);
  const addresses = [unverified.email, agent.address, disabled.email, freshAddress()];
  for (const email of addresses) {
    const { body } = await t.api.call('sendSignInCode', { body: { email }, expect: 200 });
    expect(body).toEqual({ ok: true });
    await t.api.call('signInByEmail', { body: { email, code: WRONG }, expect: 401 });
  }
  await requestsDone();
  const { rows } = await t.database.pool.query(
    `SELECT 1 FROM email_codes WHERE purpose = 'sign_in' AND address = ANY($1)`,
    [addresses],
  );
  expect(rows).toEqual([]);
});

test.each<[string, readonly Scope[], readonly Scope[]]>([
  ['an administrator', ['*'], HUMAN_SCOPES],
  ['admin and approvals', ['read', 'admin', 'approvals', 'account'], ['read', 'account']],
  ['reading only', ['read'], ['read']],
  ['all of an agent', AGENT_SCOPES, ['read', 'write', 'rooms', 'tasks', 'files', 'contacts']],
])('a token by mail grants no more than the newest one before: %s', async (_, had, gets) => {
  const human = await verifiedHuman();
  await openToken(t.database, human.id, { scopes: had });
  const code = await codeFor(human.email);
  const { body } = await t.api.call('signInByEmail', {
    body: { email: human.email, code },
    expect: 200,
  });
  expect(body.scopes).toEqual(gets);
  const { body: me } = await t.api.call('getMe', { token: body.token, expect: 200 });
  expect(me.scopes).toEqual(gets);
});

test('rooms stay restricted, too', async () => {
  const human = await verifiedHuman();
  await openToken(t.database, human.id, { scopes: HUMAN_SCOPES, roomIds: [] });
  const code = await codeFor(human.email);
  const { body } = await t.api.call('signInByEmail', {
    body: { email: human.email, code },
    expect: 200,
  });
  const { body: me } = await t.api.call('getMe', { token: body.token, expect: 200 });
  expect(me.roomIds).toEqual([]);
});

test('two people with one address each get a code of their own', async () => {
  const one = await verifiedHuman();
  const two = await registerHuman(t, { email: freshAddress() });
  await verifyAddress({ id: two.id, email: one.email });
  await t.api.call('sendSignInCode', { body: { email: one.email }, expect: 200 });
  await sink.codeFor(one.email, 2);
  const ids = new Set<string>();
  for (const code of sink.codes(one.email)) {
    const { body } = await t.api.call('signInByEmail', {
      body: { email: one.email, code },
      expect: 200,
    });
    ids.add(body.id);
  }
  expect(ids).toEqual(new Set([one.id, two.id]));
});

test('a code dies with the address it was sent to', async () => {
  const human = await verifiedHuman();
  const code = await codeFor(human.email);
  const next = freshAddress();
  await t.database.pool.query('UPDATE recovery_emails SET address = $2 WHERE identity_id = $1', [
    human.id,
    next,
  ]);
  for (const email of [human.email, next]) {
    await t.api.call('signInByEmail', { body: { email, code }, expect: 401 });
  }
});

test('ten wrong codes an hour lock an address for this client, together with its wrong passwords', async () => {
  const { email, password } = await verifiedHuman();
  const code = await codeFor(email);
  const headers = from('192.0.2.90');
  const replies = await Promise.all(
    Array.from({ length: 30 }, () =>
      t.api.raw('POST', '/v1/email/verify', { headers, body: { email, code: WRONG } }),
    ),
  );
  expect(replies.filter(({ status }) => status === 401)).toHaveLength(10);
  const locked = await t.api.call('signInByEmail', { headers, body: { email, code }, expect: 429 });
  expect(locked.body.error.code).toBe('too_many_attempts');
  await t.api.call('humanLogin', {
    headers: { ...headers, origin: t.origin },
    body: { email, password },
    expect: 429,
  });
  await t.api.call('signInByEmail', {
    headers: from('192.0.2.91'),
    body: { email, code },
    expect: 200,
  });
});

test('what is no address is refused, and a server without mail says so', async () => {
  await t.api.call('sendSignInCode', { body: { email: 'nobody' }, expect: 400 });
  await t.api.call('signInByEmail', { body: { email: 'nobody', code: WRONG }, expect: 400 });
  const off = await t.replica({ SMTP_URL: '' });
  const email = freshAddress();
  const refused = await off.api.call('sendSignInCode', { body: { email }, expect: 503 });
  expect(refused.body.error.code).toBe('email_unavailable');
  await off.api.call('signInByEmail', { body: { email, code: WRONG }, expect: 401 });
  await off.close();
});

test('asking for a code takes as long for an unknown address as for one that gets a mail', async () => {
  const people = await Promise.all(Array.from({ length: 20 }, verifiedHuman));
  let next = 0;
  const ratio = await compareTimes(t, {
    path: '/v1/email/send',
    expect: 200,
    first: () => ({ email: people[next++ % people.length]?.email }),
    second: () => ({ email: freshAddress() }),
    pauseMs: 40,
  });
  expect(ratio).toBeGreaterThan(0.9);
  expect(ratio).toBeLessThan(1.1);
}, 60_000);
