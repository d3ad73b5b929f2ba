import {
  browserOf,
  disable,
  registerHuman,
  signIn,
  startTestApi,
  type TestApi,
} from '@relayger/api/testing';
import { HUMAN_SCOPES } from '@relayger/protocol';
import { BEHIND_PROXY, from, tally } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi(BEHIND_PROXY);
});
afterAll(() => t.close());

const HTTPS = 'https://relay.example';
const WRONG = 'not the right password';
let clients = 0;
/** A client that has not been seen in this file. */
const newClient = () => `10.3.0.${++clients}`;

function attempt(client: string, email: string, password = WRONG) {
  const headers = { origin: t.origin, ...from(client) };
  return t.api.raw('POST', '/v1/human/login', { headers, body: { email, password } });
}

test('address and password sign a browser in for eight hours, whatever the case of the address', async () => {
  const human = await registerHuman(t);
  const reply = await t.api.call('humanLogin', {
    headers: { origin: t.origin },
    body: { email: human.email.toUpperCase(), password: human.password },
    expect: 200,
  });
  const { id, number, handle } = human;
  expect(reply.body).toEqual({ id, number, handle, expiresAt: reply.body.expiresAt });
  expect(Date.parse(reply.body.expiresAt) - Date.now()).toBeLessThanOrEqual(8 * 3_600_000);
  expect(Date.parse(reply.body.expiresAt) - Date.now()).toBeGreaterThan(7.99 * 3_600_000);

  const headers = browserOf(t.origin, reply);
  const me = await t.api.call('getMe', { headers, expect: 200 });
  expect(me.body).toMatchObject({ id, kind: 'human', scopes: HUMAN_SCOPES, roomIds: null });
  expect(Number(me.headers['ratelimit-remaining'])).toBeGreaterThan(0);
  const { rows } = await t.database.pool.query('SELECT hash FROM web_sessions');
  expect(JSON.stringify(rows)).not.toContain(headers.cookie.split('=')[1]);
});

test('over plain http the cookie has no Secure, over https it is a __Host- cookie', async () => {
  const human = await registerHuman(t);
  const { email, password } = human;
  const plain = await t.api.call('humanLogin', {
    headers: { origin: t.origin },
    body: { email, password },
    expect: 200,
  });
  expect(plain.headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^relayger_session=rls_[\w-]{43}; Path=\/; Max-Age=287\d\d; HttpOnly; SameSite=Strict$/,
    ),
  ]);

  // TLS ends at a proxy: what counts is the origin that clients use, not what a header of theirs claims.
  const tls = await t.replica({ PUBLIC_URL: HTTPS });
  const secure = await tls.api.call('humanLogin', {
    headers: { origin: HTTPS, 'x-forwarded-proto': 'http' },
    body: { email, password },
    expect: 200,
  });
  expect(secure.headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^__Host-relayger_session=rls_[\w-]{43}; Path=\/; Max-Age=287\d\d; HttpOnly; SameSite=Strict; Secure$/,
    ),
  ]);
  const headers = browserOf(HTTPS, secure);
  await tls.api.call('getMe', { headers, expect: 200 });
  // The name without the prefix, which a sibling subdomain could set, is nothing there.
  const cookie = headers.cookie.replace('__Host-', '');
  await tls.api.call('getMe', { headers: { cookie }, expect: 401 });
  const out = await tls.api.call('closeWebSession', { headers, expect: 200 });
  expect(out.headers['set-cookie']).toEqual([
    '__Host-relayger_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure',
  ]);
  await tls.close();

  const forged = await t.api.call('humanLogin', {
    headers: {
      origin: t.origin,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'relay.example',
    },
    body: { email, password },
    expect: 200,
  });
  expect(forged.headers['set-cookie']?.[0]).not.toContain('Secure');
});

test('a wrong password, an unknown address, a disabled person and an agent answer alike', async () => {
  const human = await registerHuman(t);
  const disabled = await registerHuman(t);
  await disable(t, disabled);
  const errors = await Promise.all(
    [
      { email: human.email, password: WRONG },
      { email: 'nobody@example.com', password: WRONG },
      { email: disabled.email, password: disabled.password },
    ].map(async (body) => {
      const headers = { origin: t.origin };
      const reply = await t.api.call('humanLogin', { headers, body, expect: 401 });
      expect(reply.headers['set-cookie']).toBeUndefined();
      const { requestId: _, ...error } = reply.body.error;
      return JSON.stringify(error);
    }),
  );
  expect(new Set(errors).size).toBe(1);
  expect(errors[0]).toContain('invalid_credentials');
});

test('ten wrong passwords lock one client out of one address, known or not', async () => {
  const human = await registerHuman(t);
  for (const email of [human.email, 'nobody-at-all@example.com']) {
    const client = newClient();
    const replies = await Promise.all(Array.from({ length: 14 }, () => attempt(client, email)));
    expect(tally(replies)).toEqual({ 401: 10, 429: 4 });
    // The same address in capitals is the same address.
    expect((await attempt(client, email.toUpperCase())).status).toBe(429);
  }
  expect((await attempt(newClient(), human.email, human.password)).status).toBe(200);
});

test('signing in with the right password uses nothing up', async () => {
  const human = await registerHuman(t);
  const client = newClient();
  for (let i = 0; i < 12; i++) {
    expect((await attempt(client, human.email, human.password)).status).toBe(200);
  }
});

test('twenty sessions stay open; a sign-in beyond that, also at the same moment, closes the oldest', async () => {
  const human = await registerHuman(t);
  const first = await signIn(t, human);
  const others = [];
  for (let i = 0; i < 4; i++) {
    const batch = Array.from({ length: 5 }, () => signIn(t, human));
    others.push(...(await Promise.all(batch)));
  }
  await t.api.call('getMe', { headers: first, expect: 401 });
  for (const headers of others) await t.api.call('getMe', { headers, expect: 200 });
});

test('an open session does not survive that its person is disabled', async () => {
  const human = await registerHuman(t);
  const headers = await signIn(t, human);
  await disable(t, human);
  const reply = await t.api.call('getMe', { headers, expect: 401 });
  expect(reply.body.error.code).toBe('unauthorized');
});
