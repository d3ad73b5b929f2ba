import {
  openToken,
  registerHuman,
  signIn,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { AGENT_SCOPES } from '@relayger/protocol';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

async function codeOf(agent: Pick<TestAgent, 'token'>): Promise<string> {
  return (await t.api.call('createOwnershipCode', { token: agent.token, expect: 201 })).body.code;
}

function claim(token: string, code: string) {
  return t.api.raw('POST', '/v1/account/agents/claim', { token, body: { code } });
}

test('an agent makes a code, a person redeems it once and owns the agent', async () => {
  const [agent, human] = [await t.agent(), await registerHuman(t)];
  const made = await t.api.call('createOwnershipCode', { token: agent.token, expect: 201 });
  expect(made.body.code).toMatch(/^rlo_[\w-]{43}$/);
  expect(Math.round((Date.parse(made.body.expiresAt) - Date.now()) / 60_000)).toBe(15);
  const { rows } = await t.database.pool.query('SELECT hash FROM ownership_codes');
  expect(rows[0].hash).toHaveLength(32);

  const { code } = made.body;
  const owned = await t.api.call('claimAgent', { token: human.token, body: { code }, expect: 200 });
  expect(owned.body).toMatchObject({
    id: agent.id,
    number: agent.number,
    handle: agent.handle,
    openTokens: 1,
  });
  const me = await t.api.call('getMe', { token: agent.token, expect: 200 });
  expect(me.body.ownerId).toBe(human.id);
  const list = await t.api.call('listOwnedAgents', { token: human.token, expect: 200 });
  expect(list.body.map(({ id }) => id)).toEqual([agent.id]);
  const again = await t.api.call('claimAgent', { token: human.token, body: { code }, expect: 404 });
  expect(again.body.error.code).toBe('ownership_code_not_found');
  const audit = await t.database.pool.query(
    'SELECT actor_id, action FROM audit_log WHERE subject_id = $1',
    [agent.id],
  );
  expect(audit.rows).toEqual([{ actor_id: human.id, action: 'identity.claim' }]);

  await t.api.call('disableOwnedAgent', {
    token: human.token,
    params: { id: agent.id },
    expect: 200,
  });
  await t.api.call('getMe', { token: agent.token, expect: 401 });
});

test('a browser redeems a code too', async () => {
  const [agent, human] = [await t.agent(), await registerHuman(t)];
  const headers = await signIn(t, human);
  await t.api.call('claimAgent', { headers, body: { code: await codeOf(agent) }, expect: 200 });
});

test('an agent that has an owner makes no code', async () => {
  const [agent, human] = [await t.agent(), await registerHuman(t)];
  await claim(human.token, await codeOf(agent));
  const reply = await t.api.call('createOwnershipCode', { token: agent.token, expect: 409 });
  expect(reply.body.error.code).toBe('already_owned');
});

test('only an agent makes a code, with every agent scope and no room restriction', async () => {
  const [agent, human] = [await t.agent(), await registerHuman(t)];
  const person = await t.api.call('createOwnershipCode', { token: human.token, expect: 403 });
  expect(person.body.error.code).toBe('agent_only');
  const narrow = await openToken(t, agent, { scopes: AGENT_SCOPES.filter((s) => s !== 'files') });
  const refused = await t.api.call('createOwnershipCode', { token: narrow, expect: 403 });
  expect(refused.body.error.code).toBe('full_agent_token_required');
  const reading = await openToken(t, agent, { scopes: ['read'] });
  const scope = await t.api.call('createOwnershipCode', { token: reading, expect: 403 });
  expect(scope.body.error.code).toBe('insufficient_scope');
  const restricted = await openToken(t, agent, { roomIds: [] });
  const rooms = await t.api.call('createOwnershipCode', { token: restricted, expect: 403 });
  expect(rooms.body.error.code).toBe('room_restricted_token');
});

test('a code is over after 15 minutes and when there is a newer one', async () => {
  const [agent, human] = [await t.agent(), await registerHuman(t)];
  const first = await codeOf(agent);
  const second = await codeOf(agent);
  expect((await claim(human.token, first)).status).toBe(404);
  await t.database.pool.query(
    `UPDATE ownership_codes SET expires_at = expires_at - interval '15 minutes' WHERE identity_id = $1`,
    [agent.id],
  );
  expect((await claim(human.token, second)).status).toBe(404);
  expect((await claim(human.token, await codeOf(agent))).status).toBe(200);
});

test('of many people with one code one becomes the owner', async () => {
  const agent = await t.agent();
  const code = await codeOf(agent);
  const people = await Promise.all(Array.from({ length: 6 }, () => registerHuman(t)));
  const replies = await Promise.all(people.map(({ token }) => claim(token, code)));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404]);
});

test('a code of a disabled agent gives nobody anything', async () => {
  const [agent, human] = [await t.agent(), await registerHuman(t)];
  const code = await codeOf(agent);
  await t.database.pool.query('UPDATE identities SET disabled_at = now() WHERE id = $1', [
    agent.id,
  ]);
  expect((await claim(human.token, code)).status).toBe(404);
});

test('a person without password and verified address owns nobody this way; a verified one does', async () => {
  const plain = await t.replica({ HUMAN_PASSWORD_AUTH: 'false' });
  const registration = { kind: 'human' as const, handle: 'unsecured', displayName: 'x' };
  const { body: human } = await plain.api.call('register', { body: registration, expect: 201 });
  await plain.close();
  const code = await codeOf(await t.agent());
  const refused = await t.api.call('claimAgent', {
    token: human.token,
    body: { code },
    expect: 403,
  });
  expect(refused.body.error.code).toBe('secured_account_required');
  await t.database.pool.query(
    'INSERT INTO recovery_emails (identity_id, address) VALUES ($1, $2)',
    [human.id, 'unsecured@example.com'],
  );
  expect((await claim(human.token, code)).status).toBe(200);
});

test('the 33rd agent is refused and its code stays good', async () => {
  const human = await registerHuman(t);
  await t.database.pool.query(
    `INSERT INTO identities (id, number, handle, kind, display_name, owner_id)
     SELECT gen_random_uuid(), n.number, 'claimed-' || row_number() OVER (), 'agent', 'x', $1
       FROM (SELECT (5000000000 + i)::text AS number FROM generate_series(0, 400) AS i
              WHERE relayger_number_is_valid((5000000000 + i)::text) LIMIT 31) AS n`,
    [human.id],
  );
  const codes = [await codeOf(await t.agent()), await codeOf(await t.agent())];
  const replies = await Promise.all(codes.map((code) => claim(human.token, code)));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 429]);
  const left = codes[replies.findIndex(({ status }) => status === 429)] as string;
  const refused = await t.api.call('claimAgent', {
    token: human.token,
    body: { code: left },
    expect: 429,
  });
  expect(refused.body.error.code).toBe('agent_limit');
  const other = await registerHuman(t);
  expect((await claim(other.token, left)).status).toBe(200);
});

test('an agent claims nobody, and neither does a narrow or restricted token of a person', async () => {
  const [agent, human] = [await t.agent(), await registerHuman(t)];
  const code = await codeOf(agent);
  const body = { code };
  for (const token of [agent.token, await openToken(t, human, { scopes: ['read', 'write'] })]) {
    const reply = await t.api.call('claimAgent', { token, body, expect: 403 });
    expect(reply.body.error.code).toBe('insufficient_scope');
  }
  const token = await openToken(t, human, { scopes: ['account'], roomIds: [] });
  const reply = await t.api.call('claimAgent', { token, body, expect: 403 });
  expect(reply.body.error.code).toBe('room_restricted_token');
  const empty = await t.api.call('claimAgent', { token: human.token, body: {}, expect: 400 });
  expect(empty.body.error.code).toBe('invalid_request');
});

test('a code ends with the token that made it: a thief cannot keep what recovery takes away', async () => {
  const [victim, thief] = [await t.agent(), await registerHuman(t)];
  const stolen = { token: await openToken(t, victim) };
  const code = await codeOf(stolen);
  const revoked = { token: victim.token, body: { session: 'others' }, expect: 200 as const };
  await t.api.call('revokeSessions', revoked);
  expect(await claim(thief.token, code)).toMatchObject({
    status: 404,
    body: { error: { code: 'ownership_code_not_found' } },
  });
  expect((await claim(thief.token, await codeOf(victim))).status).toBe(200);
});
