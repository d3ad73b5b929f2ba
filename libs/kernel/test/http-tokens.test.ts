import { randomBytes } from 'node:crypto';
import {
  disable,
  openToken,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { OPERATIONS, type Operation, SCOPES, type Scope } from '@relayger/protocol';
import {
  CALLS,
  paramsOf,
  pathOf,
  refusal,
  type Scene,
  setScene,
  stored,
  WITH_TOKEN,
} from './http-support.js';

let t: TestApi;
let scene: Scene;
let before: Record<string, string>;
let stale: Record<'expired' | 'revoked' | 'disabled', string>;
let narrow: Map<Scope, string>;
let restricted: string;
const scopesOf = ({ access }: Operation) => (access === 'public' ? [] : access.scopes);

beforeAll(async () => {
  t = await startTestApi();
  scene = await setScene(t);
  const [gone] = (await seedAgents(t, ['gone'])) as [TestAgent];
  await disable(t, gone);
  stale = {
    expired: await openToken(t, scene.me, { expiresIn: -1 }),
    revoked: await openToken(t, scene.me, { revoked: true }),
    disabled: gone.token,
  };
  restricted = await openToken(t, scene.me, { roomIds: [scene.room], scopes: ['*'] });
  narrow = new Map();
  for (const lacking of new Set(WITH_TOKEN.flatMap(scopesOf))) {
    const scopes = SCOPES.filter((scope) => scope !== lacking && scope !== '*');
    narrow.set(lacking, await openToken(t, scene.me, { scopes }));
  }
  before = await stored(t);
});
afterAll(async () => {
  const after = await stored(t);
  await t.close();
  expect(after).toEqual(before);
});

/** A call that would succeed but for its token. */
function wellFormed(operation: Operation) {
  const { body, example } = operation;
  return { params: paramsOf(operation, scene), ...(body && { body: example }) };
}

describe.each(WITH_TOKEN.map((operation) => ({ id: operation.id, operation })))(
  '$id',
  ({ operation }) => {
    test('without a token, and with one that is no longer good, is unauthorized', async () => {
      for (const token of [undefined, ...Object.values(stale)]) {
        const reply = await t.api.call(operation, {
          ...wellFormed(operation),
          ...(token && { token }),
          expect: 401,
        });
        expect(reply.body).toMatchObject({ error: { code: 'unauthorized' } });
        expect(reply.headers['www-authenticate']).toBe('Bearer');
        expect(reply.headers).not.toHaveProperty('ratelimit-limit');
      }
    });

    test('names the scope that a token lacks', async () => {
      for (const scope of scopesOf(operation)) {
        const token = narrow.get(scope) as string;
        const reply = await t.api.call(operation, { ...wellFormed(operation), token, expect: 403 });
        expect(reply.body).toMatchObject({
          error: { code: 'insufficient_scope', details: { required: [scope] } },
        });
      }
    });

    test('refuses a token limited to rooms where its contract says so', async () => {
      if (operation.access === 'public' || !operation.access.unrestricted) return;
      const call = { ...wellFormed(operation), token: restricted, expect: 403 };
      expect(refusal(await t.api.call(operation, call)).code).toBe('room_restricted_token');
    });
  },
);

test('a token that was good a moment ago is refused as soon as it is revoked', async () => {
  const token = await openToken(t, scene.peer);
  await t.api.call('getMe', { token, expect: 200 });
  await t.database.pool.query(
    `UPDATE access_tokens SET revoked_at = now() WHERE hash = sha256(convert_to($1, 'UTF8'))`,
    [token],
  );
  await t.api.call('getMe', { token, expect: 401 });
  await t.database.pool.query(
    `DELETE FROM access_tokens WHERE hash = sha256(convert_to($1, 'UTF8'))`,
    [token],
  );
});

const good = () => scene.me.token;
const headers: Record<string, () => string> = {
  'an unknown token': () => `Bearer rly_${randomBytes(32).toString('base64url')}`,
  'a token without its last character': () => `Bearer ${good().slice(0, -1)}`,
  'a token with one character more': () => `Bearer ${good()}A`,
  'a token without its prefix': () => `Bearer ${good().slice(4)}`,
  'a token in other case': () => `Bearer ${good().toUpperCase()}`,
  'a token in quotes': () => `Bearer "${good()}"`,
  'a token of 10,000 characters': () => `Bearer rly_${'a'.repeat(10_000)}`,
  'two tokens': () => `Bearer ${good()} ${good()}`,
  'two tokens with a comma': () => `Bearer ${good()}, Bearer ${good()}`,
  'no scheme': () => good(),
  'only the scheme': () => 'Bearer',
  'an empty token': () => 'Bearer  ',
  'the scheme Basic': () => `Basic ${Buffer.from(`x:${good()}`).toString('base64')}`,
  'the scheme Token': () => `Token ${good()}`,
  'characters outside ASCII': () => 'Bearer rly_\u00e9\u00e9',
  'a wildcard': () => 'Bearer %',
};
test.each(Object.entries(headers))(
  '%s in the Authorization header is unauthorized',
  async (_, value) => {
    const reply = await t.api.call('getMe', { headers: { authorization: value() }, expect: 401 });
    expect(reply.body.error.code).toBe('unauthorized');
  },
);

test('the scheme may be written in any case and with several spaces (RFC 9110 section 11.1)', async () => {
  for (const scheme of ['bearer ', 'BEARER   ']) {
    await t.api.call('getMe', { headers: { authorization: scheme + good() }, expect: 200 });
  }
});

describe('a token in the query string', () => {
  test.each(OPERATIONS.map((operation) => ({ id: operation.id, operation })))(
    'is refused by $id, also beside a good header',
    async ({ operation }) => {
      const path = `${pathOf(operation, scene)}?access_token=${good()}`;
      const headers = { origin: t.origin };
      const reply = await t.api.raw(operation.method, path, {
        token: good(),
        headers,
        expect: 400,
      });
      expect(refusal(reply, operation).code).toBe('token_in_query');
      expect(reply.text).not.toContain(good());
    },
  );

  test.each([
    'token=',
    'Token=',
    'ACCESS_TOKEN=',
    'authorization=Bearer%20',
    'bearer=',
    'bearer_token=',
    'auth_token=',
    'api_key=',
    'apikey=',
    '%74oken=',
    'acc%65ss_token=',
    'wait=1&token=',
    'token=x&token=',
  ])('is refused under the name %s', async (name) => {
    const { status, code } = refusal(await t.api.raw('GET', `/v1/mailbox?${name}${good()}`));
    expect({ status, code }).toEqual({ status: 400, code: 'token_in_query' });
  });
});

test('no public call asks for a token, and a bad one does no harm there', async () => {
  for (const operation of OPERATIONS.filter(({ access }) => access === 'public')) {
    if (CALLS.includes(operation) && operation.body) continue;
    await t.api.call(operation, { headers: { authorization: 'Bearer nonsense' }, expect: 200 });
  }
});
