import {
  type BrowserHeaders,
  registerHuman,
  signIn,
  startTestApi,
  type TestApi,
  type TestHuman,
  textMessage,
} from '@relayger/api/testing';
import { OPERATIONS } from '@relayger/protocol';

let t: TestApi;
let human: TestHuman;
let browser: BrowserHeaders;
beforeAll(async () => {
  t = await startTestApi();
  human = await registerHuman(t);
  browser = await signIn(t, human);
});
afterAll(() => t.close());

const ID = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';
const CHANGES = OPERATIONS.filter(({ method }) => method !== 'GET');

/** Where a request of another page, or of none, may come from. */
const FOREIGN: [string, (own: URL) => Record<string, string>][] = [
  ['another site', () => ({ origin: 'https://evil.example' })],
  [
    'a sibling subdomain',
    ({ port }) => ({ origin: `http://app.localhost:${port}`, 'sec-fetch-site': 'same-site' }),
  ],
  ['another port', () => ({ origin: 'http://localhost:1' })],
  ['another scheme', ({ host }) => ({ origin: `https://${host}` })],
  ['a name that begins like ours', ({ origin }) => ({ origin: `${origin}.evil.example` })],
  ['the origin with a path', ({ origin }) => ({ origin: `${origin}/` })],
  ['a sandboxed frame', () => ({ origin: 'null' })],
  ['an empty Origin', () => ({ origin: '' })],
  ['nowhere', () => ({})],
  ['nowhere, with a Referer of ours', ({ origin }) => ({ referer: `${origin}/dashboard` })],
  ['nowhere, claiming to be same-origin', () => ({ 'sec-fetch-site': 'same-origin' })],
];

const BODIES: [string, string][] = [
  ['application/json', '{}'],
  ['text/plain', '{"a":"="}'],
  ['application/x-www-form-urlencoded', 'a=b'],
  ['multipart/form-data; boundary=x', '--x--'],
];

/** Everything that is stored, as one number a table and one digest of what changes in place. */
async function snapshot(): Promise<string> {
  const { rows: tables } = await t.database.pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`,
  );
  const digests = [];
  for (const { name } of tables) {
    // last_used_at is noted in the background and is no change that anybody asked for.
    const { rows } = await t.database.pool.query<{ digest: string }>(
      `SELECT md5(coalesce(string_agg((to_jsonb(x) - 'last_used_at')::text, ',' ORDER BY x::text), '')) AS digest
         FROM "${name}" x`,
    );
    digests.push(`${name}:${rows[0]?.digest}`);
  }
  return digests.join('\n');
}

test.each(FOREIGN)(
  'no call changes anything with the cookie alone when it comes from %s',
  async (_, from) => {
    const before = await snapshot();
    for (const { method, path } of CHANGES) {
      for (const [type, rawBody] of BODIES) {
        const reply = await t.api.raw(method, path.replace(/\{\w+\}/g, ID), {
          headers: { cookie: browser.cookie, 'content-type': type, ...from(new URL(t.origin)) },
          rawBody,
          expect: 403,
        });
        expect(reply.body).toMatchObject({ error: { code: 'origin_not_allowed' } });
        expect(reply.headers['set-cookie']).toBeUndefined();
      }
    }
    expect(await snapshot()).toBe(before);
  },
);

test('a worthless cookie is refused in the same way, so the reply does not tell what it is worth', async () => {
  const cookie = `${browser.cookie}x`;
  const reply = await t.api.raw('POST', '/v1/rooms', {
    headers: { cookie },
    body: { name: 'x' },
    expect: 403,
  });
  expect(reply.body).toMatchObject({ error: { code: 'origin_not_allowed' } });
});

test.each(FOREIGN)('nobody is signed in by a page from %s', async (_, from) => {
  const { email, password } = human;
  const headers = from(new URL(t.origin));
  const reply = await t.api.call('humanLogin', { headers, body: { email, password }, expect: 403 });
  expect(reply.body.error.code).toBe('origin_not_allowed');
  expect(reply.headers['set-cookie']).toBeUndefined();
});

test.each(['x-http-method-override', 'x-http-method', 'x-method-override'])(
  'the header %s makes no other method of a request',
  async (name) => {
    const { cookie } = browser;
    const before = await snapshot();
    await t.api.raw('GET', '/v1/session', { headers: { cookie, [name]: 'DELETE' }, expect: 200 });
    await t.api.raw('GET', '/v1/rooms', { headers: { cookie, [name]: 'POST' }, expect: 200 });
    await t.api.raw('POST', '/v1/rooms', {
      headers: { cookie, [name]: 'GET' },
      body: { name: 'x' },
      expect: 403,
    });
    await t.api.raw('GET', '/v1/rooms?_method=POST', { headers: { cookie }, expect: 400 });
    expect(await snapshot()).toBe(before);
  },
);

test('no GET changes anything with the cookie alone; consuming mail needs the Origin', async () => {
  const agent = await t.agent();
  await t.befriend(agent, human);
  await t.api.call('sendDirect', {
    token: agent.token,
    body: { target: human.number, message: textMessage('hello') },
    expect: 201,
  });
  const { cookie } = browser;
  for (const query of [
    'consume=1',
    'consume=1&limit=5',
    'consume=0&consume=1',
    'consume=true',
    'consume',
  ]) {
    const before = await snapshot();
    const reply = await t.api.raw('GET', `/v1/mailbox?${query}`, {
      headers: { cookie },
      expect: 403,
    });
    expect(reply.body).toMatchObject({ error: { code: 'origin_not_allowed' } });
    expect(await snapshot()).toBe(before);
  }
  const plain = { headers: { cookie }, query: { consume: '0' as const }, expect: 200 as const };
  expect((await t.api.call('readMailbox', plain)).body).toHaveLength(1);

  const reads = OPERATIONS.filter(
    ({ method, path }) => method === 'GET' && path.startsWith('/v1/'),
  );
  const before = await snapshot();
  for (const { path } of reads) {
    await t.api.raw('GET', path.replace(/\{\w+\}/g, ID), { headers: { cookie } });
  }
  expect(await snapshot()).toBe(before);

  const own = { headers: browser, query: { consume: '1' as const }, expect: 200 as const };
  expect((await t.api.call('readMailbox', own)).body).toHaveLength(1);
  expect((await t.api.call('readMailbox', own)).body).toEqual([]);
});

test('with the own Origin the cookie works, and only JSON is read', async () => {
  await t.api.call('createRoom', { headers: browser, body: { name: 'panel' }, expect: 201 });
  for (const [type, rawBody] of BODIES.slice(1)) {
    const headers = { ...browser, 'content-type': type };
    await t.api.raw('POST', '/v1/rooms', { headers, rawBody, expect: 415 });
  }
});

test('a token without cookie needs no Origin, and no cookie of somebody else gets in its way', async () => {
  const name = { body: { name: 'token' }, expect: 201 as const };
  await t.api.call('createRoom', { token: human.token, ...name });
  await t.api.call('createRoom', {
    token: human.token,
    headers: { cookie: 'theme=dark' },
    ...name,
  });
  await t.api.call('createRoom', { token: human.token, headers: { origin: t.origin }, ...name });
  const query = { consume: '1' as const };
  await t.api.call('readMailbox', { token: human.token, query, expect: 200 });
});

test('a browser that has a cookie must say where a call comes from, even if it also has a token', async () => {
  const reply = await t.api.call('createRoom', {
    token: human.token,
    headers: { cookie: browser.cookie },
    body: { name: 'both' },
    expect: 403,
  });
  expect(reply.body.error.code).toBe('origin_not_allowed');
});

test('there are no CORS headers, not even for a preflight of the own origin', async () => {
  for (const origin of [t.origin, 'https://evil.example']) {
    const reply = await t.api.raw('OPTIONS', '/v1/rooms', {
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    const cors = Object.keys(reply.headers).filter((name) => name.startsWith('access-control-'));
    expect(cors).toEqual([]);
    expect(reply.status).toBeGreaterThanOrEqual(400);
  }
});
