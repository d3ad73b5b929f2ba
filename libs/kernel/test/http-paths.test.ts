import { startTestApi, type TestApi, textMessage } from '@relayger/api/testing';
import { OPERATIONS } from '@relayger/protocol';
import {
  CALLS,
  paramsOf,
  pathOf,
  refusal,
  type Scene,
  setScene,
  stored,
  wire,
} from './http-support.js';

let t: TestApi;
let scene: Scene;
let before: Record<string, string>;
beforeAll(async () => {
  t = await startTestApi();
  scene = await setScene(t);
  before = await stored(t);
});
afterAll(async () => {
  const after = await stored(t);
  await t.close();
  expect(after).toEqual(before);
});

async function refused(method: string, path: string, sent: { body?: unknown } = {}) {
  const headers = { origin: t.origin };
  return refusal(await t.api.raw(method, path, { token: scene.master, headers, ...sent }));
}
const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'LOCK',
  'HEAD',
];
const PATHS = [...new Set(OPERATIONS.map(({ path }) => path))];

test.each(PATHS)('%s answers other methods with 405 and says which it takes', async (path) => {
  const operations = OPERATIONS.filter((operation) => operation.path === path);
  const concrete = pathOf(operations[0] as (typeof OPERATIONS)[number], scene);
  const pattern = (text: string) => new RegExp(`^${text.replace(/\{\w+\}/g, '[^/]+')}$`);
  const allowed = OPERATIONS.filter((other) => pattern(other.path).test(concrete)).map(
    ({ method }) => `${method}`,
  );
  if (!path.startsWith('/v1/')) allowed.push('HEAD');
  for (const method of METHODS.filter((name) => !allowed.includes(name))) {
    const { status, headers } = await t.api.raw(method, concrete, { token: scene.me.token });
    expect({ method, status }).toEqual({ method, status: 405 });
    expect(headers.allow?.split(', ').sort()).toEqual(allowed.toSorted());
  }
});

test('a HEAD marks nothing delivered: its answer could carry no messages', async () => {
  const { me, peer } = scene;
  const { body: room } = await t.api.call('createRoom', {
    token: peer.token,
    body: { name: 'head' },
    expect: 201,
  });
  const params = { room: room.id, identity: me.number };
  await t.api.call('addMember', { token: peer.token, params, expect: 201 });
  const send = { token: peer.token, params: { room: room.id }, body: textMessage('hi') };
  await t.api.call('sendMessage', { ...send, expect: 201 });
  before = await stored(t);
  await t.api.raw('HEAD', '/v1/mailbox?consume=1', { token: me.token, expect: 405 });
  expect((await t.api.call('readMailbox', { token: me.token, expect: 200 })).body).toHaveLength(1);
});

test('a document answers HEAD as it answers GET, without the body', async () => {
  const get = await t.api.call('getAgentGuide', { expect: 200 });
  const head = await t.api.raw('HEAD', '/agents.md', { expect: 200 });
  expect(head.text).toBe('');
  expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.text)));
});

test.each([
  '/nope',
  '/v1',
  '/v1/',
  '/v1/nope',
  '/v2/me',
  '/v1/me/',
  '//v1/me',
  '/v1//me',
  '/V1/me',
  '/v1/ME',
  '/v1/me;x=1',
  '/v1/me/x',
  '/v1/rooms/x/y/z',
  '/v1/../v1/me',
  '/v1/%2e%2e/v1/me',
  '/v1%2Fme',
  '/.env',
  '/.well-known/',
  '/docs/nothing.json',
  '/agents.md/..%2f..%2fpackage.json',
])('%s is not found, in JSON, whatever the method', async (path) => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    expect(await refused(method, path)).toMatchObject({ status: 404, code: 'not_found' });
  }
});

describe('a path parameter', () => {
  const withParams = CALLS.filter(({ params }) => params !== undefined);
  const ids = ['room', 'id'];
  const notUuids = [
    '0190B2F4-7C1D-7E3A-9B52-1F6C2D8E4A01',
    '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a0',
    '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a012',
    '0190b2f47c1d7e3a9b521f6c2d8e4a01',
    '{0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01}',
    '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a0g',
    'urn:uuid:0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
    '1',
    'null',
    'general',
    "x'%20OR%20'1'='1",
  ];
  const hostile = [
    '%00',
    'a%00b',
    '%0A',
    '%20',
    '%F0%9F%98%80',
    '%EF%BF%BD',
    '..',
    '.',
    '%2F',
    '*',
    'x'.repeat(200),
  ];

  test.each(withParams.map((operation) => ({ id: operation.id, operation })))(
    'of $id is refused when it is no id, number or handle',
    async ({ operation }) => {
      const good = paramsOf(operation, scene);
      const query = operation.query?.safeParse({}).success === false ? `?room=${scene.room}` : '';
      for (const name of Object.keys(good)) {
        for (const value of ids.includes(name) ? [...notUuids, ...hostile] : hostile) {
          const path = operation.path.replace(/\{(\w+)\}/g, (_, key: string) =>
            key === name ? value : (good[key] as string),
          );
          const { body, example } = operation;
          const sent = body ? { body: example } : {};
          const { status, code, issues } = await refused(operation.method, path + query, sent);
          // Room owners are told about bad addresses; an address is looked at after its room.
          expect({ value, status, code }).toEqual({ value, status: 400, code: 'invalid_request' });
          expect(issues?.[0]?.path).toBe(`params.${name}`);
        }
      }
    },
  );

  test.each(['%', '%z', '%zz', '%f', '%ff', '%c0%af', '%ed%a0%80', '%u0041', 'a%', '%E0%A4%A'])(
    'with the malformed percent-encoding %s is an invalid address',
    async (value) => {
      for (const path of [
        `/v1/identities/${value}`,
        `/v1/rooms/${value}/messages`,
        `/v1/${value}`,
        `/${value}`,
      ]) {
        expect(await refused('GET', path)).toMatchObject({
          status: 400,
          issues: [{ path: 'path' }],
        });
      }
    },
  );

  test.each([81, 300, 301, 1_000, 8_000])('of %i characters is refused', async (length) => {
    for (const digit of ['1', 'a', '%41', '@']) {
      const path = `/v1/identities/${digit.repeat(length).slice(0, 12_000)}`;
      expect(await refused('GET', path)).toMatchObject({ status: 400 });
    }
  });
});

describe('what is not HTTP', () => {
  const rest = 'HTTP/1.1\r\nHost: x\r\n';
  test.each([
    ['an unknown method', `FOO /v1/me ${rest}\r\n`],
    ['no request line', 'hello\r\n\r\n'],
    ['another protocol', 'GET /v1/me HTTP/3.0\r\nHost: x\r\n\r\n'],
    ['TLS', Buffer.from('16030100c8010000c4', 'hex')],
    ['a path with raw bytes', Buffer.from(`GET /v1/\u00e9 ${rest}\r\n`)],
    ['a path with NUL', `GET /v1/\u0000 ${rest}\r\n`],
    ['a header with NUL', `GET /v1/me ${rest}X: a\u0000b\r\n\r\n`],
    ['a negative length', `POST /v1/rooms ${rest}Content-Length: -1\r\n\r\n`],
    ['a length that is no number', `POST /v1/rooms ${rest}Content-Length: abc\r\n\r\n`],
    ['two lengths', `POST /v1/rooms ${rest}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    [
      'length and chunks',
      `POST /v1/rooms ${rest}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`,
    ],
    [
      'a broken chunk',
      `POST /v1/rooms ${rest}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    ],
    ['headers beyond 16 KiB', `GET /v1/me ${rest}X: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['an address beyond 16 KiB', `GET /v1/${'x'.repeat(20_000)} ${rest}\r\n`],
  ])('%s is answered with an error of the catalogue', async (_, request) => {
    const reply = await wire(t.origin, request);
    expect(refusal(reply)).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(reply.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      connection: 'close',
    });
  });

  test('the method QUERY is no reason to fail', async () => {
    const call = `QUERY /v1/me ${rest}`;
    expect(refusal(await wire(t.origin, `${call}\r\n`)).status).toBe(400);
    const json = `${call}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    expect(refusal(await wire(t.origin, json)).status).toBe(405);
  });
});
