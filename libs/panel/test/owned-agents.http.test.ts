import {
  disable,
  openToken,
  registerHuman,
  signIn,
  startTestApi,
  type TestApi,
  type TestHuman,
  textMessage,
} from '@relayger/api/testing';
import {
  AGENT_SCOPES,
  type CreateOwnedAgentRequest,
  HUMAN_SCOPES,
  OPERATIONS,
  type Operation,
} from '@relayger/protocol';

let t: TestApi;
let owner: TestHuman;
beforeAll(async () => {
  t = await startTestApi();
  owner = await registerHuman(t, { handle: 'owner' });
});
afterAll(() => t.close());

let made = 0;
async function own(more: Partial<CreateOwnedAgentRequest> = {}, token = owner.token) {
  const body = { handle: `owned-${++made}`, ...more };
  return (await t.api.call('createOwnedAgent', { token, body, expect: 201 })).body;
}

async function issue(id: string, scopes = [...AGENT_SCOPES]) {
  const body = { scopes };
  const { token } = owner;
  return (await t.api.call('issueAgentToken', { token, params: { id }, body, expect: 201 })).body;
}

async function audit(subjectId: string) {
  const { rows } = await t.database.pool.query(
    'SELECT actor_id, action, token_id, details FROM audit_log WHERE subject_id = $1 ORDER BY id',
    [subjectId],
  );
  return rows;
}

test('a person makes an agent with a profile; it has no password and no token', async () => {
  const agent = await own({
    displayName: 'Reports',
    description: 'Weekly',
    capabilities: ['reports'],
    listed: true,
  });
  expect(agent).toMatchObject({
    displayName: 'Reports',
    description: 'Weekly',
    capabilities: ['reports'],
    listed: true,
    disabledAt: null,
    disabledBy: null,
    openTokens: 0,
    lastUsedAt: null,
  });
  const { rows } = await t.database.pool.query(
    `SELECT i.kind, i.owner_id, c.password_hash, c.recovery_key_hash FROM identities i
       JOIN credentials c ON c.identity_id = i.id WHERE i.id = $1`,
    [agent.id],
  );
  expect(rows).toEqual([
    { kind: 'agent', owner_id: owner.id, password_hash: null, recovery_key_hash: null },
  ]);
  const list = await t.api.call('listOwnedAgents', { token: owner.token, expect: 200 });
  expect(list.body).toContainEqual(agent);
  const plain = await own({ handle: 'plain-agent' });
  expect(plain.displayName).toBe('plain-agent');
  const directory = await t.api.call('listDirectory', { expect: 200 });
  expect(directory.body.agents.map(({ handle }) => handle)).toEqual([agent.handle]);
});

test.each([
  ['a number for a handle', { handle: '1abc' }],
  ['no handle', { handle: undefined }],
  ['a kind', { kind: 'human' }],
  ['an owner', { ownerId: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01' }],
  ['a long name', { displayName: 'x'.repeat(101) }],
  ['a bad label', { capabilities: ['No'] }],
])('an agent with %s is malformed', async (_, change) => {
  const body = { handle: 'malformed', ...change };
  const reply = await t.api.call('createOwnedAgent', { token: owner.token, body, expect: 400 });
  expect(reply.body.error.code).toBe('invalid_request');
});

test('a taken handle is refused and counts for nothing', async () => {
  const { handle } = await own();
  const body = { handle };
  const reply = await t.api.call('createOwnedAgent', { token: owner.token, body, expect: 409 });
  expect(reply.body.error.code).toBe('conflict');
});

test('the owner changes what the agent says about itself, and nothing else', async () => {
  const { id, handle } = await own({ description: 'before' });
  const changed = await t.api.call('updateOwnedAgent', {
    token: owner.token,
    params: { id },
    body: { displayName: 'After', listed: false },
    expect: 200,
  });
  expect(changed.body).toMatchObject({ handle, displayName: 'After', description: 'before' });
  for (const body of [{ handle: 'other' }, { ownerId: null }, { disabledAt: null }]) {
    const call = { token: owner.token, params: { id }, body, expect: 400 as const };
    expect((await t.api.call('updateOwnedAgent', call)).body.error.code).toBe('invalid_request');
  }
  expect((await audit(id)).at(-1)).toMatchObject({
    actor_id: owner.id,
    action: 'identity.update',
    details: { fields: ['displayName', 'listed'] },
  });
});

test('disabling ends every token at once and stops the password; enabling brings no token back', async () => {
  const { id, number } = await own();
  const tokens = [(await issue(id)).token, (await issue(id)).token];
  const first = await t.api.call('changePassword', {
    token: tokens[0] as string,
    body: { current: '' },
    expect: 200,
  });
  const password = first.body.password as string;
  const signedIn = await t.api.call('login', { body: { number, password }, expect: 200 });
  const call = { token: owner.token, params: { id }, expect: 200 as const };
  const off = await t.api.call('disableOwnedAgent', call);
  expect(off.body).toMatchObject({ disabledBy: 'owner', openTokens: 0 });
  expect(off.body.disabledAt).not.toBeNull();
  const all = [...tokens, signedIn.body.token];
  for (const token of all) await t.api.call('getMe', { token, expect: 401 });
  await t.api.call('login', { body: { number, password }, expect: 401 });
  const open = await t.api.call('listAgentTokens', call);
  expect(open.body).toEqual([]);
  const refused = await t.api.call('issueAgentToken', {
    ...call,
    body: { scopes: ['read'] },
    expect: 409,
  });
  expect(refused.body.error.code).toBe('identity_disabled');

  // Repeating it changes nothing. When a token was last used is noted later.
  const { lastUsedAt: _, ...same } = off.body;
  expect((await t.api.call('disableOwnedAgent', call)).body).toMatchObject(same);
  const on = await t.api.call('enableOwnedAgent', call);
  expect(on.body).toMatchObject({ disabledAt: null, disabledBy: null, openTokens: 0 });
  for (const token of all) await t.api.call('getMe', { token, expect: 401 });
  await t.api.call('login', { body: { number, password }, expect: 200 });
  await t.api.call('enableOwnedAgent', call);
  expect((await audit(id)).map(({ action }) => action)).toEqual([
    'identity.create',
    'token.issue',
    'token.issue',
    'identity.disable',
    'identity.disable',
    'identity.enable',
    'identity.enable',
  ]);
});

test('sign-ins at the moment of disabling leave no token that would come to life again', async () => {
  const { id, number } = await own();
  const { token } = await issue(id);
  const set = await t.api.call('changePassword', { token, body: { current: '' }, expect: 200 });
  const body = { number, password: set.body.password };
  const call = { token: owner.token, params: { id }, expect: 200 as const };
  for (let round = 0; round < 3; round++) {
    const logins = Array.from({ length: 6 }, () => t.api.raw('POST', '/v1/login', { body }));
    await t.api.call('disableOwnedAgent', call);
    const replies = await Promise.all(logins);
    await t.api.call('enableOwnedAgent', call);
    for (const reply of replies.filter(({ status }) => status === 200)) {
      const { token: left } = reply.body as { token: string };
      await t.api.call('getMe', { token: left, expect: 401 });
    }
  }
});

test('what an operator has disabled, the owner can change but not enable', async () => {
  const { id } = await own();
  await disable(t, { id });
  const call = { token: owner.token, params: { id } };
  const list = await t.api.call('listOwnedAgents', { token: owner.token, expect: 200 });
  expect(list.body.find((agent) => agent.id === id)?.disabledBy).toBe('operator');
  const refused = await t.api.call('enableOwnedAgent', { ...call, expect: 403 });
  expect(refused.body.error.code).toBe('disabled_by_operator');
  // Disabling it once more does not make it the owner's.
  await t.api.call('disableOwnedAgent', { ...call, expect: 200 });
  await t.api.call('enableOwnedAgent', { ...call, expect: 403 });
});

test('an owner has at most 32 agents, also when many are made at once, disabled ones included', async () => {
  const busy = await registerHuman(t);
  const { id } = await own({}, busy.token);
  await t.api.call('disableOwnedAgent', { token: busy.token, params: { id }, expect: 200 });
  await t.database.pool.query(
    `INSERT INTO identities (id, number, handle, kind, display_name, owner_id)
     SELECT gen_random_uuid(), n.number, 'many-' || row_number() OVER (), 'agent', 'x', $1
       FROM (SELECT (4000000000 + i)::text AS number FROM generate_series(0, 400) AS i
              WHERE relayger_number_is_valid((4000000000 + i)::text) LIMIT 26) AS n`,
    [busy.id],
  );
  const replies = await Promise.all(
    Array.from({ length: 9 }, (_, i) =>
      t.api.raw('POST', '/v1/account/agents', {
        token: busy.token,
        body: { handle: `at-once-${i}` },
      }),
    ),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([
    ...Array(5).fill(201),
    ...Array(4).fill(429),
  ]);
  const body = { handle: 'one-too-many' };
  const refused = await t.api.call('createOwnedAgent', { token: busy.token, body, expect: 429 });
  expect(refused.body.error.code).toBe('agent_limit');
  const limits = await t.api.call('getLimits', { token: busy.token, expect: 200 });
  expect(limits.body.agents).toEqual({ limit: 32, used: 32 });
});

const CALLS = [
  ['updateOwnedAgent', { listed: true }],
  ['disableOwnedAgent', undefined],
  ['enableOwnedAgent', undefined],
  ['listAgentTokens', undefined],
  ['issueAgentToken', { scopes: ['read'] }],
  ['revokeAgentToken', undefined],
] as const;

test.each(CALLS)(
  '%s knows no agent of somebody else, of nobody, and no person',
  async (operation, body) => {
    const definition = OPERATIONS.find(({ id }) => id === operation) as Operation;
    const other = await registerHuman(t);
    const foreign = await own({}, other.token);
    const free = await t.agent();
    const tokenId = (
      await t.api.call('issueAgentToken', {
        token: other.token,
        params: { id: foreign.id },
        body: { scopes: ['read'] },
        expect: 201,
      })
    ).body.id;
    for (const id of [foreign.id, free.id, owner.id, '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01']) {
      const params: Record<string, string> =
        operation === 'revokeAgentToken' ? { id, tokenId } : { id };
      const reply = await t.api.call(definition, { token: owner.token, params, body, expect: 404 });
      expect(reply.body).toMatchObject({ error: { code: 'not_found' } });
    }
    const tokens = await t.api.call('listAgentTokens', {
      token: other.token,
      params: { id: foreign.id },
      expect: 200,
    });
    expect(tokens.body).toHaveLength(1);
  },
);

test.each([
  ['listOwnedAgents', undefined],
  ['createOwnedAgent', { handle: 'narrow' }],
  ...CALLS,
] as const)(
  '%s needs the account scope and a token without room restriction',
  async (operation, body) => {
    const definition = OPERATIONS.find(({ id }) => id === operation) as Operation;
    const { id } = await own();
    const params = { id, tokenId: id };
    const agent = await t.agent();
    const human = await openToken(t, owner, { scopes: ['read', 'write', 'rooms'] });
    for (const token of [agent.token, human]) {
      const reply = await t.api.call(definition, { token, params, body, expect: 403 });
      expect(reply.body).toMatchObject({
        error: { code: 'insufficient_scope', details: { required: ['account'] } },
      });
    }
    const restricted = await openToken(t, owner, { scopes: HUMAN_SCOPES, roomIds: [] });
    const reply = await t.api.call(definition, { token: restricted, params, body, expect: 403 });
    expect(reply.body).toMatchObject({ error: { code: 'room_restricted_token' } });
  },
);

test('a browser manages agents too', async () => {
  const headers = await signIn(t, owner);
  const body = { handle: 'from-browser' };
  const agent = await t.api.call('createOwnedAgent', { headers, body, expect: 201 });
  const { cookie } = headers;
  const params = { id: agent.body.id };
  await t.api.call('disableOwnedAgent', { headers: { cookie }, params, expect: 403 });
  await t.api.call('disableOwnedAgent', { headers, params, expect: 200 });
});

test('owning an agent opens none of its rooms', async () => {
  const { id } = await own();
  const { token } = await issue(id);
  const friend = await t.agent();
  const room = await t.api.call('createRoom', { token, body: { name: 'private' }, expect: 201 });
  await t.api.call('addMember', {
    token,
    params: { room: room.body.id, identity: friend.number },
    expect: 201,
  });
  const sent = await t.api.call('sendMessage', {
    token,
    params: { room: room.body.id },
    body: textMessage('for members'),
    expect: 201,
  });
  expect(sent.status).toBe(201);
  const params = { room: room.body.id };
  for (const operation of ['listMessages', 'listRoomKeys'] as const) {
    await t.api.call(operation, { token: owner.token, params, expect: 404 });
  }
  expect((await t.api.call('listRooms', { token: owner.token, expect: 200 })).body).toEqual([]);
  const agents = await t.api.call('listOwnedAgents', { token: owner.token, expect: 200 });
  expect(agents.text).not.toContain(room.body.id);
  expect(agents.text).not.toContain('private');
});
