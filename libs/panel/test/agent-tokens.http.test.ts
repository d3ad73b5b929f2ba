import { registerHuman, startTestApi, type TestApi, type TestHuman } from '@relayger/api/testing';
import { AGENT_SCOPES } from '@relayger/protocol';

let t: TestApi;
let owner: TestHuman;
let agent: { id: string; number: string };
beforeAll(async () => {
  t = await startTestApi();
  owner = await registerHuman(t);
});
beforeEach(async () => {
  const body = { handle: `agent-${performance.now().toString(36).replace('.', '')}` };
  agent = (await t.api.call('createOwnedAgent', { token: owner.token, body, expect: 201 })).body;
});
afterAll(() => t.close());

function issue(body: object) {
  return t.api.raw('POST', `/v1/account/agents/${agent.id}/tokens`, { token: owner.token, body });
}

async function issued(body: object) {
  const reply = await issue(body);
  expect(reply.status).toBe(201);
  return reply.body as { id: string; token: string; expiresAt: string };
}

const list = () =>
  t.api.call('listAgentTokens', { token: owner.token, params: { id: agent.id }, expect: 200 });

test('a token has the asked scopes and lifetime and is shown once', async () => {
  const made = await issued({ scopes: ['read', 'write'], expiresIn: 3600 });
  expect(Object.keys(made).sort()).toEqual(['expiresAt', 'id', 'roomIds', 'scopes', 'token']);
  expect(Date.parse(made.expiresAt) - Date.now()).toBeLessThanOrEqual(3_600_000);
  const me = await t.api.call('getMe', { token: made.token, expect: 200 });
  expect(me.body).toMatchObject({
    id: agent.id,
    scopes: ['read', 'write'],
    roomIds: null,
    ownerId: owner.id,
  });
  const refused = await t.api.call('createRoom', {
    token: made.token,
    body: { name: 'x' },
    expect: 403,
  });
  expect(refused.body.error.code).toBe('insufficient_scope');

  const { body: tokens, text } = await list();
  expect(tokens).toEqual([
    {
      id: made.id,
      scopes: ['read', 'write'],
      roomIds: null,
      createdAt: expect.any(String),
      lastUsedAt: null,
      expiresAt: made.expiresAt,
    },
  ]);
  const { rows } = await t.database.pool.query('SELECT hash FROM access_tokens WHERE id = $1', [
    made.id,
  ]);
  for (const secret of [
    made.token,
    rows[0].hash.toString('hex'),
    rows[0].hash.toString('base64'),
  ]) {
    expect(text).not.toContain(secret);
  }
  const standard = await issued({ scopes: ['read'] });
  expect((Date.parse(standard.expiresAt) - Date.now()) / 86_400_000).toBeCloseTo(30, 2);
});

test.each([
  ['a scope of people', { scopes: ['read', 'account'] }],
  ['a scope of administrators', { scopes: ['admin'] }],
  ['every scope', { scopes: ['*'] }],
  ['no scope', { scopes: [] }],
  ['a scope twice', { scopes: ['read', 'read'] }],
  ['no scopes at all', {}],
  ['a short life', { scopes: ['read'], expiresIn: 59 }],
  ['a long life', { scopes: ['read'], expiresIn: 30 * 86_400 + 1 }],
  ['half a second', { scopes: ['read'], expiresIn: 60.5 }],
  [
    'a room twice',
    { scopes: ['read'], roomIds: Array(2).fill('0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01') },
  ],
  ['an unknown field', { scopes: ['read'], kind: 'human' }],
])('a token with %s is refused', async (_, body) => {
  const reply = await issue(body);
  expect(reply.body).toMatchObject({ error: { code: 'invalid_request' } });
  expect((await list()).body).toEqual([]);
});

test('a token is limited to rooms that the agent is in', async () => {
  const full = await issued({ scopes: [...AGENT_SCOPES] });
  const newRoom = async (token: string, name: string) =>
    (await t.api.call('createRoom', { token, body: { name }, expect: 201 })).body.id;
  const [first, second] = [await newRoom(full.token, 'one'), await newRoom(full.token, 'two')];
  const stranger = await t.agent();
  const foreign = await newRoom(stranger.token, 'foreign');
  const ownerRoom = await newRoom(owner.token, 'of the owner');

  const limited = await issued({ scopes: ['read'], roomIds: [first] });
  const rooms = await t.api.call('listRooms', { token: limited.token, expect: 200 });
  expect(rooms.body.map(({ id }) => id)).toEqual([first]);
  await t.api.call('listMessages', { token: limited.token, params: { room: second }, expect: 404 });
  const none = await issued({ scopes: ['read'], roomIds: [] });
  expect((await t.api.call('listRooms', { token: none.token, expect: 200 })).body).toEqual([]);
  expect((await list()).body.map(({ roomIds }) => roomIds)).toEqual([[], [first], null]);

  // Rooms of others and rooms that do not exist are the same.
  const missing = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';
  for (const room of [foreign, missing, ownerRoom]) {
    const reply = await t.api.call('issueAgentToken', {
      token: owner.token,
      params: { id: agent.id },
      body: { scopes: ['read'], roomIds: [first, room] },
      expect: 400,
    });
    expect(reply.body.error.details).toEqual({
      issues: [{ path: 'body.roomIds[1]', message: 'must be a room of the identity' }],
    });
  }
});

test('revoking ends a token at once, and revoking it again is no error', async () => {
  const [one, two] = [await issued({ scopes: ['read'] }), await issued({ scopes: ['read'] })];
  const call = { token: owner.token, params: { id: agent.id, tokenId: one.id } };
  for (let i = 0; i < 2; i++) {
    const reply = await t.api.call('revokeAgentToken', { ...call, expect: 200 });
    expect(reply.body).toEqual({ ok: true });
  }
  await t.api.call('getMe', { token: one.token, expect: 401 });
  await t.api.call('getMe', { token: two.token, expect: 200 });
  expect((await list()).body.map(({ id }) => id)).toEqual([two.id]);
});

test('a token of another identity, the own one included, cannot be revoked as one of this agent', async () => {
  const { rows } = await t.database.pool.query(
    'SELECT id FROM access_tokens WHERE identity_id = $1',
    [owner.id],
  );
  for (const tokenId of [rows[0].id, '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01']) {
    const params = { id: agent.id, tokenId };
    const reply = await t.api.call('revokeAgentToken', { token: owner.token, params, expect: 404 });
    expect(reply.body.error.code).toBe('not_found');
  }
  await t.api.call('getMe', { token: owner.token, expect: 200 });
});

test('at most twenty tokens are open, also when many are issued at once; ended ones do not count', async () => {
  const short = await issued({ scopes: ['read'] });
  const gone = await issued({ scopes: ['read'] });
  await t.database.pool.query('UPDATE access_tokens SET expires_at = now() WHERE id = $1', [
    short.id,
  ]);
  const params = { id: agent.id, tokenId: gone.id };
  await t.api.call('revokeAgentToken', { token: owner.token, params, expect: 200 });

  const replies = await Promise.all(Array.from({ length: 24 }, () => issue({ scopes: ['read'] })));
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(4);
  expect((await list()).body).toHaveLength(20);
  const refused = await t.api.call('issueAgentToken', {
    token: owner.token,
    params: { id: agent.id },
    body: { scopes: ['read'] },
    expect: 429,
  });
  expect(refused.body.error.code).toBe('token_limit');
  // Nobody is thrown out for it, unlike by a sign-in.
  for (const { body } of replies.filter(({ status }) => status === 201)) {
    await t.api.call('getMe', { token: (body as { token: string }).token, expect: 200 });
  }
});

test('what is issued and revoked is in the audit log, without the token', async () => {
  const made = await issued({ scopes: ['read'], roomIds: [] });
  const params = { id: agent.id, tokenId: made.id };
  await t.api.call('revokeAgentToken', { token: owner.token, params, expect: 200 });
  const { rows } = await t.database.pool.query(
    'SELECT actor_id, action, token_id, reason, details FROM audit_log WHERE token_id = $1 ORDER BY id',
    [made.id],
  );
  expect(rows).toEqual([
    {
      actor_id: owner.id,
      action: 'token.issue',
      token_id: made.id,
      reason: null,
      details: { scopes: ['read'], rooms: [], expiresAt: made.expiresAt },
    },
    { actor_id: owner.id, action: 'token.revoke', token_id: made.id, reason: null, details: null },
  ]);
});
