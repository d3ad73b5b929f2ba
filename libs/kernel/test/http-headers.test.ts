import { startTestApi, type TestApi } from '@relayger/api/testing';
import { createLogger } from '@relayger/kernel';
import { type ApiClient, createApiClient } from '@relayger/kernel/testing';
import { OPERATIONS } from '@relayger/protocol';
import { apiConfig } from '../../../apps/api/src/config.js';
import { startApi } from '../../../apps/api/src/start-api.js';
import { freePort } from '../src/database/embedded/free-port.js';
import { pathOf, refusal, type Scene, setScene, stored, WITH_TOKEN, wire } from './http-support.js';

let t: TestApi;
let scene: Scene;
const running: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  t = await startTestApi();
  scene = await setScene(t);
});
afterAll(async () => {
  for (const replica of running) await replica.close();
  await t.close();
});
async function _replica(env: Record<string, string>) {
  const started = await t.replica(env);
  running.push(started);
  return started;
}

describe('caches and search engines', () => {
  const kept = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex' };

  test('may keep nothing of the API, neither answers nor errors', async () => {
    const { token } = scene.me;
    for (const operation of WITH_TOKEN.filter(({ method }) => method === 'GET')) {
      const { headers } = await t.api.raw('GET', pathOf(operation, scene), { token });
      expect(headers).toMatchObject(kept);
    }
    for (const path of ['/v1/me', '/v1/nope', '/v1/me?token=x', '/v1/identities/%zz', '/nope']) {
      expect((await t.api.raw('GET', path)).headers).toMatchObject(kept);
    }
    expect((await t.api.raw('POST', '/v1/login', { rawBody: '{' })).headers).toMatchObject(kept);
  });

  test('are not misled by another spelling of the path', async () => {
    const rest = `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${scene.me.token}\r\n\r\n`;
    for (const path of ['http://x/v1/me', '/%761/me', '/v1/m%65']) {
      const reply = await wire(t.origin, `GET ${path} ${rest}`);
      expect(reply).toMatchObject({ status: 200, body: { id: scene.me.id }, headers: kept });
    }
  });

  test('may keep documents', async () => {
    for (const path of ['/', '/agents.md', '/openapi.json', '/.well-known/relayger.json']) {
      const { headers } = await t.api.raw('GET', path, { expect: 200 });
      expect(headers).not.toHaveProperty('x-robots-tag');
      expect(headers).not.toHaveProperty('cache-control');
    }
  });
});

describe('the Origin header', () => {
  const elsewhere = (origin: string) => [
    'https://evil.example',
    'null',
    '',
    'file://',
    `${origin}/`,
    `${origin}.evil.example`,
    `${origin}0`,
    origin.replace(/:\d+$/, ''),
    origin.replace('http:', 'https:'),
    `${origin}, https://evil.example`,
    `${origin} `.toUpperCase(),
  ];

  test('is refused by every operation when it is foreign, before anything happens', async () => {
    const before = await stored(t);
    for (const operation of OPERATIONS) {
      const { method, body, example } = operation;
      const reply = await t.api.raw(method, pathOf(operation, scene), {
        token: scene.me.token,
        headers: { origin: 'https://evil.example' },
        ...(body && { body: example }),
      });
      expect(refusal(reply, operation)).toMatchObject({ status: 403, code: 'origin_not_allowed' });
    }
    expect(await stored(t)).toEqual(before);
  });

  test('must be the own origin to the letter', async () => {
    const { token } = scene.me;
    await t.api.call('getMe', { token, headers: { origin: t.origin }, expect: 200 });
    for (const origin of elsewhere(t.origin)) {
      await t.api.call('getMe', { token, headers: { origin }, expect: 403 });
    }
  });

  test('opens no door for scripts of other sites: no CORS headers, no preflight', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const preflight = await t.api.raw('OPTIONS', '/v1/direct', { headers, expect: 403 });
    const own = await t.api.raw('GET', '/v1/me', {
      token: scene.me.token,
      headers: { origin: t.origin },
    });
    for (const reply of [preflight, own]) {
      expect(
        Object.keys(reply.headers).filter((name) => name.startsWith('access-control')),
      ).toEqual([]);
    }
  });
});

describe('behind a public https origin', () => {
  const origin = 'https://relay.example';
  const hsts = 'max-age=63072000; includeSubDomains';
  let api: ApiClient;
  let base: string;
  beforeAll(async () => {
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    const settings = { PORT: String(port), PUBLIC_URL: `${origin}/`, DATABASE_URL: t.database.url };
    running.push(await startApi(apiConfig(settings), createLogger('silent')));
    api = createApiClient(base);
  });
  afterAll(() => api.close());

  test('every reply, whatever it says, tells browsers to stay with https', async () => {
    const { token } = scene.me;
    const replies = [
      await api.call('getMe', { token, expect: 200 }),
      await api.call('getMe', { expect: 401 }),
      await api.call('getHome', { expect: 200 }),
      await api.raw('GET', '/nope', { expect: 404 }),
      await api.raw('GET', '/v1/identities/%zz', { expect: 400 }),
      await wire(base, 'FOO / HTTP/1.1\r\n\r\n'),
    ];
    for (const { headers } of replies) expect(headers['strict-transport-security']).toBe(hsts);
    // On plain http a browser must ignore it (RFC 6797 section 7.2), so it is not sent.
    const plain = await t.api.call('getMe', { token, expect: 200 });
    expect(plain.headers).not.toHaveProperty('strict-transport-security');
  });

  test('that one is the own origin, and no address it happens to listen on', async () => {
    const { token } = scene.me;
    await api.call('getMe', { token, headers: { origin }, expect: 200 });
    for (const other of [
      base,
      base.replace('127.0.0.1', 'localhost'),
      'http://relay.example',
      `${origin}:443`,
    ]) {
      await api.call('getMe', { token, headers: { origin: other }, expect: 403 });
    }
    const { body } = await api.call('getDiscovery', { expect: 200 });
    expect(body).toMatchObject({ origin, openapi: `${origin}/openapi.json` });
  });
});

test('every failure has an id of its own, which the client cannot choose', async () => {
  const ids = new Set<string>();
  for (let i = 0; i < 5; i++) {
    const { body } = await t.api.call('getMe', {
      headers: { 'x-request-id': 'mine' },
      expect: 401,
    });
    expect(body.error.requestId).toMatch(/^[0-9a-f-]{36}$/);
    ids.add(body.error.requestId);
  }
  expect(ids.size).toBe(5);
});
