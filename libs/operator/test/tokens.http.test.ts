import {
  browserOf,
  openToken,
  registerHuman,
  signIn,
  startTestApi,
  type TestApi,
  type TestHuman,
} from '@relayger/api/testing';
import { AGENT_SCOPES, HUMAN_SCOPES, type IssueTokenRequest, type Scope } from '@relayger/protocol';
import { auditOf, makeAdmin } from './support.js';

let t: TestApi;
let admin: TestHuman;
beforeAll(async () => {
  t = await startTestApi();
  admin = await makeAdmin(t);
});
afterAll(() => t.close());

const reason = 'ticket 4711';
const DAY = 86_400;

function issue(body: IssueTokenRequest, token = admin.token) {
  return t.api.raw('POST', '/v1/tokens', { token, body });
}

async function issued(body: IssueTokenRequest, token = admin.token) {
  return (await t.api.call('issueToken', { token, body, expect: 201 })).body;
}

async function tokenIdOf(identityId: string): Promise<string> {
  const { rows } = await t.database.pool.query(
    'SELECT id FROM access_tokens WHERE identity_id = $1 AND revoked_at IS NULL ORDER BY created_at',
    [identityId],
  );
  return rows[0].id;
}

test('an administrator issues a token with scopes, rooms and lifetime', async () => {
  const agent = await t.agent();
  const room = await t.api.call('createRoom', {
    token: agent.token,
    body: { name: 'x' },
    expect: 201,
  });
  const grant = { scopes: ['read' as const], roomIds: [room.body.id], expiresIn: 2 * DAY };
  const made = await issued({ identityId: agent.id, ...grant, reason });
  const me = await t.api.call('getMe', { token: made.token, expect: 200 });
  expect(me.body).toMatchObject({ id: agent.id, scopes: ['read'], roomIds: [room.body.id] });
  expect((Date.parse(made.expiresAt) - Date.now()) / (DAY * 1000)).toBeCloseTo(2, 2);
  expect(await auditOf(t, agent.id)).toEqual([
    {
      actor_id: admin.id,
      action: 'token.issue',
      token_id: made.id,
      reason,
      details: { scopes: ['read'], rooms: [room.body.id], expiresAt: made.expiresAt },
    },
  ]);
  const own = await t.api.call('createRoom', {
    token: admin.token,
    body: { name: 'x' },
    expect: 403,
  });
  expect(own.body.error.code).toBe('insufficient_scope');
  const foreign = await t.api.call('issueToken', {
    token: admin.token,
    body: { identityId: admin.id, scopes: ['read'], roomIds: [room.body.id], reason },
    expect: 400,
  });
  expect(foreign.body.error.details).toMatchObject({ issues: [{ path: 'body.roomIds[0]' }] });
});

test.each<[string, 'human' | 'agent' | 'service', Scope[], number]>([
  ['an agent every agent scope', 'agent', [...AGENT_SCOPES], 201],
  ['an agent no account', 'agent', ['account'], 403],
  ['an agent no administration', 'agent', ['admin'], 403],
  ['an agent not everything', 'agent', ['*'], 403],
  ['a service no administration', 'service', ['read', 'admin'], 403],
  ['a service files', 'service', ['files'], 201],
  ['a person decisions on approvals', 'human', [...HUMAN_SCOPES, 'approvals'], 201],
  ['a person no administration', 'human', ['admin'], 403],
  ['a person not everything', 'human', ['*'], 403],
])('an administrator can give %s', async (_, kind, scopes, status) => {
  const body = { kind, handle: `kind-${performance.now().toString(36).replace('.', '')}`, reason };
  const user = await t.api.call('createUser', { token: admin.token, body, expect: 201 });
  const reply = await issue({ identityId: user.body.id, scopes, reason });
  expect(reply.status).toBe(status);
  if (status === 403) expect(reply.body).toMatchObject({ error: { code: 'scope_not_allowed' } });
});

test('an administrator can have everything, and the role is still what counts', async () => {
  const other = await makeAdmin(t);
  const all = await issued({ identityId: other.id, scopes: ['*'], reason });
  await t.api.call('listUsers', { token: all.token, expect: 200 });
  await t.database.pool.query(`UPDATE identities SET role = 'member' WHERE id = $1`, [other.id]);
  const reply = await t.api.call('listUsers', { token: all.token, expect: 403 });
  expect(reply.body.error.code).toBe('admin_role_required');
});

test.each<[string, object, string]>([
  ['no reason', { reason: undefined }, 'body.reason'],
  ['no scopes', { scopes: undefined }, 'body.scopes'],
  ['nobody to have it', { identityId: undefined }, 'body.identityId'],
  ['an identity and one to rotate', { rotate: 'current' }, 'body.identityId'],
  ['a scope that does not exist', { scopes: ['root'] }, 'body.scopes[0]'],
  ['more than a year', { expiresIn: 366 * DAY }, 'body.expiresIn'],
])('a token with %s is malformed', async (_, change, path) => {
  const { id } = await t.agent();
  const body = { identityId: id, scopes: ['read'], reason, ...change };
  const reply = await t.api.call('issueToken', { token: admin.token, body, expect: 400 });
  expect(reply.body.error.details).toMatchObject({ issues: [{ path }] });
});

test('nobody gets a token who is not there, is disabled or has twenty', async () => {
  const missing = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';
  const nobody = { identityId: missing, scopes: ['read' as const], reason };
  const call = { token: admin.token, body: nobody, expect: 404 as const };
  expect((await t.api.call('issueToken', call)).body.error.code).toBe('not_found');

  const agent = await t.agent();
  for (let i = 0; i < 15; i++) await openToken(t, agent);
  const body = { identityId: agent.id, scopes: ['read' as const], reason };
  const replies = await Promise.all(Array.from({ length: 8 }, () => issue(body)));
  expect(replies.map(({ status }) => status).sort()).toEqual([
    201, 201, 201, 201, 429, 429, 429, 429,
  ]);
  const full = await t.api.call('issueToken', { token: admin.token, body, expect: 429 });
  expect(full.body.error.code).toBe('token_limit');

  const off = { disabled: true, reason };
  await t.api.call('updateUser', {
    token: admin.token,
    params: { id: agent.id },
    body: off,
    expect: 200,
  });
  const refused = await t.api.call('issueToken', { token: admin.token, body, expect: 409 });
  expect(refused.body.error.code).toBe('identity_disabled');
});

test('an administrator replaces a token; what is not said anew stays', async () => {
  const agent = await t.agent();
  const old = await tokenIdOf(agent.id);
  const before = await t.api.call('getMe', { token: agent.token, expect: 200 });
  const made = await issued({ rotate: old, reason });
  expect(made).toMatchObject({ scopes: AGENT_SCOPES, expiresAt: before.body.expiresAt });
  await t.api.call('getMe', { token: agent.token, expect: 401 });
  const narrow = await issued({ rotate: made.id, scopes: ['read'], expiresIn: DAY, reason });
  expect(narrow.scopes).toEqual(['read']);
  await t.api.call('getMe', { token: made.token, expect: 401 });
  await t.api.call('getMe', { token: narrow.token, expect: 200 });
  expect((await auditOf(t, agent.id)).at(0)).toMatchObject({
    action: 'token.rotate',
    token_id: made.id,
    reason,
    details: { replaces: old },
  });
  // Ended, so there is nothing to replace; and an agent never gets more than an agent may have.
  const gone = await t.api.call('issueToken', {
    token: admin.token,
    body: { rotate: old, reason },
    expect: 404,
  });
  expect(gone.body.error.code).toBe('not_found');
  const wide = await issue({ rotate: narrow.id, scopes: ['admin'], reason });
  expect(wide.body).toMatchObject({ error: { code: 'scope_not_allowed' } });
  await t.api.call('getMe', { token: narrow.token, expect: 200 });
});

test('of many replacements of one token one succeeds', async () => {
  const agent = await t.agent();
  const rotate = await tokenIdOf(agent.id);
  const replies = await Promise.all(Array.from({ length: 6 }, () => issue({ rotate, reason })));
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404, 404, 404]);
});

test('an administrator revokes any token, once and again, and says why', async () => {
  const agent = await t.agent();
  const params = { id: await tokenIdOf(agent.id) };
  const { token } = admin;
  const silent = await t.api.call('revokeToken', { token, params, expect: 400 });
  expect(silent.body.error.details).toMatchObject({ issues: [{ path: 'body.reason' }] });
  await t.api.call('getMe', { token: agent.token, expect: 200 });
  for (let i = 0; i < 2; i++) {
    await t.api.call('revokeToken', { token, params, body: { reason }, expect: 200 });
  }
  await t.api.call('getMe', { token: agent.token, expect: 401 });
  expect((await auditOf(t, agent.id)).at(-1)).toMatchObject({ action: 'token.revoke', reason });
  const missing = { id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01' };
  await t.api.call('revokeToken', { token, params: missing, body: { reason }, expect: 404 });
});

test('open tokens are listed, the newest first, page by page, without secrets', async () => {
  const agent = await t.agent();
  const made = [];
  for (let i = 0; i < 4; i++) {
    made.push(await issued({ identityId: agent.id, scopes: ['read'], reason }));
  }
  const { token } = admin;
  const first = await t.api.call('listTokens', {
    token,
    query: { identityId: agent.id, limit: 3 },
    expect: 200,
  });
  expect(first.body.items.map(({ id }) => id)).toEqual(
    made
      .slice(1)
      .reverse()
      .map(({ id }) => id),
  );
  const rest = await t.api.call('listTokens', {
    token,
    query: { identityId: agent.id, limit: 3, before: first.body.next as string },
    expect: 200,
  });
  expect(rest.body).toMatchObject({
    items: [{ id: made[0]?.id }, { scopes: AGENT_SCOPES }],
    next: null,
  });
  for (const secret of made.map((m) => m.token)) expect(first.text).not.toContain(secret);
  const all = await t.api.call('listTokens', { token, expect: 200 });
  expect(new Set(all.body.items.map(({ identityId }) => identityId)).size).toBeGreaterThan(1);
  await t.api.call('listTokens', { token, query: { limit: 0 }, expect: 400 });
});

test('a person narrows an own token and gets no more than there was', async () => {
  const human = await registerHuman(t);
  const me = await t.api.call('getMe', { token: human.token, expect: 200 });
  const room = await t.api.call('createRoom', {
    token: human.token,
    body: { name: 'x' },
    expect: 201,
  });
  const scopes: Scope[] = ['read', 'account'];
  const made = await issued({ rotate: 'current', scopes, expiresIn: 300 * DAY }, human.token);
  expect(made).toMatchObject({ scopes, roomIds: null, expiresAt: me.body.expiresAt });
  await t.api.call('getMe', { token: human.token, expect: 401 });
  const wider = await t.api.call('issueToken', {
    token: made.token,
    body: { rotate: 'current', scopes: ['read', 'write'] },
    expect: 403,
  });
  expect(wider.body.error.code).toBe('scope_not_allowed');

  const body = { rotate: 'current' as const, roomIds: [room.body.id], expiresIn: DAY };
  const small = await issued(body, made.token);
  expect(small).toMatchObject({ scopes, roomIds: [room.body.id] });
  expect((Date.parse(small.expiresAt) - Date.now()) / (DAY * 1000)).toBeCloseTo(1, 2);
  const limited = await t.api.call('issueToken', { token: small.token, body, expect: 403 });
  expect(limited.body.error.code).toBe('room_restricted_token');
  const actions = (await auditOf(t, human.id)).map(({ action }) => action);
  expect(actions).toEqual(['token.rotate', 'token.rotate']);
});

test('a person replaces and revokes other own tokens with the account scope, within the one of the call', async () => {
  const human = await registerHuman(t);
  const add = async (scopes: Scope[], roomIds?: string[]) => {
    const token = await openToken(t, human, { scopes, ...(roomIds && { roomIds }) });
    const { rows } = await t.database.pool.query(
      'SELECT id FROM access_tokens WHERE hash = sha256($1)',
      [Buffer.from(token)],
    );
    return { token, id: rows[0].id as string };
  };
  const rooms = ['0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01', '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a02'];
  const [reading, deciding, limited] = [
    await add(['read']),
    await add(['read', 'approvals']),
    await add(['read'], rooms),
  ];
  // A narrow token does not make itself a wide one out of another token of its person.
  const narrow = await t.api.call('issueToken', {
    token: reading.token,
    body: { rotate: deciding.id },
    expect: 403,
  });
  expect(narrow.body.error.details).toEqual({ required: ['account'] });
  await t.api.call('revokeToken', {
    token: reading.token,
    params: { id: deciding.id },
    expect: 403,
  });
  // Neither does one without approvals get them.
  const refused = await issue({ rotate: deciding.id }, human.token);
  expect(refused.body).toMatchObject({ error: { code: 'scope_not_allowed' } });
  await issued({ rotate: deciding.id, scopes: ['read'] }, human.token);

  for (const roomIds of [null, [...rooms, deciding.id]]) {
    const reply = await issue({ rotate: limited.id, roomIds }, human.token);
    expect(reply.body).toMatchObject({
      error: { details: { issues: [{ path: 'body.roomIds' }] } },
    });
  }
  const one = await issued({ rotate: limited.id, roomIds: rooms.slice(1) }, human.token);
  expect(one.roomIds).toEqual(rooms.slice(1));

  await t.api.call('revokeToken', { token: human.token, params: { id: one.id }, expect: 200 });
  await t.api.call('revokeToken', {
    token: reading.token,
    params: { id: reading.id },
    expect: 200,
  });
  await t.api.call('getMe', { token: reading.token, expect: 401 });
});

test('a token of somebody else is not there for a person', async () => {
  const [human, other] = [await registerHuman(t), await registerHuman(t)];
  const id = await tokenIdOf(other.id);
  const replace = await t.api.call('issueToken', {
    token: human.token,
    body: { rotate: id },
    expect: 404,
  });
  expect(replace.body.error.code).toBe('not_found');
  await t.api.call('revokeToken', { token: human.token, params: { id }, expect: 404 });
  const foreign = { rotate: 'current' as const, identityId: other.id };
  await t.api.call('issueToken', { token: human.token, body: foreign, expect: 403 });
  await t.api.call('getMe', { token: other.token, expect: 200 });
});

test('an agent does neither; it signs in and ends its sessions under /v1/me', async () => {
  const agent = await t.agent();
  const id = await tokenIdOf(agent.id);
  const replace = await t.api.call('issueToken', {
    token: agent.token,
    body: { rotate: id },
    expect: 403,
  });
  expect(replace.body.error.details).toEqual({ required: ['admin'] });
  await t.api.call('revokeToken', { token: agent.token, params: { id }, expect: 403 });
  // Not even with a scope that nobody can have given it.
  const token = await openToken(t, agent, { scopes: ['admin'] });
  const scope = await t.api.call('revokeToken', { token, params: { id }, expect: 403 });
  expect(scope.body.error.code).toBe('admin_role_required');
  await t.api.call('getMe', { token: agent.token, expect: 200 });
});

test('ending a token takes one that is not limited to rooms', async () => {
  const human = await registerHuman(t);
  const params = { id: await tokenIdOf(human.id) };
  const token = await openToken(t, human, { scopes: ['account'], roomIds: [] });
  const reply = await t.api.call('revokeToken', { token, params, expect: 403 });
  expect(reply.body.error.code).toBe('room_restricted_token');
  await t.api.call('revokeToken', { params, expect: 401 });
});

test('a browser replaces the token behind its session, which ends; one without a token has none', async () => {
  const human = await registerHuman(t);
  const opened = await t.api.call('openWebSession', { token: human.token, expect: 201 });
  const headers = browserOf(t.origin, opened);
  const body = { rotate: 'current' as const, scopes: ['read' as const] };
  await t.api.call('issueToken', { headers, body, expect: 201 });
  // It would have had more than its token.
  await t.api.call('getMe', { headers, expect: 401 });
  const password = await signIn(t, human);
  await t.api.call('issueToken', { headers: password, body, expect: 404 });
});
