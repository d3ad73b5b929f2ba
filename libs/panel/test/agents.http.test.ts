import {
  disable,
  openToken,
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

async function known(token: string): Promise<string[]> {
  const { body } = await t.api.call('listAgents', { token, expect: 200 });
  return body.map(({ handle }) => handle);
}

const handles = (...known: Pick<TestAgent, 'handle'>[]) => known.map(({ handle }) => handle).sort();

async function room(owner: TestAgent, ...members: TestAgent[]): Promise<string> {
  const { token } = owner;
  const { body } = await t.api.call('createRoom', { token, body: { name: 'x' }, expect: 201 });
  for (const { number } of members) {
    const params = { room: body.id, identity: number };
    await t.api.call('addMember', { token, params, expect: 201 });
  }
  return body.id;
}

test('a stranger sees itself alone', async () => {
  const agent = await t.agent();
  await t.agent();
  const { body } = await t.api.call('listAgents', { token: agent.token, expect: 200 });
  expect(body).toEqual([
    {
      id: agent.id,
      number: agent.number,
      handle: agent.handle,
      kind: 'agent',
      displayName: agent.handle,
      description: '',
      capabilities: [],
      ownerId: null,
      state: 'offline',
    },
  ]);
});

test('room companions, friends and owned agents are seen, by handle; pending requests are not', async () => {
  const human = await registerHuman(t);
  const [companion, friend, pending] = [await t.agent(), await t.agent(), await t.agent()];
  await room(companion, human);
  await t.befriend(friend, human);
  await t.api.call('requestContact', {
    token: pending.token,
    params: { address: human.number },
    body: {},
    expect: 200,
  });
  const owned = await t.api.call('createOwnedAgent', {
    token: human.token,
    body: { handle: `owned-by-${human.handle}` },
    expect: 201,
  });
  expect(await known(human.token)).toEqual(handles(human, companion, friend, owned.body));
  expect(await known(companion.token)).toEqual(handles(companion, human));
  expect(await known(friend.token)).toEqual(handles(friend, human));
  expect(await known(pending.token)).toEqual(handles(pending));
});

test('a friend that was removed or blocked, and a disabled companion, are seen no more', async () => {
  const [agent, removed, blocked, off] = [
    await t.agent(),
    await t.agent(),
    await t.agent(),
    await t.agent(),
  ];
  for (const other of [removed, blocked]) {
    await t.befriend(agent, other);
    await t.api.call('sendDirect', {
      token: other.token,
      body: {
        target: agent.number,
        message: {
          schemaVersion: 1,
          type: 'text',
          payload: { text: 'hello' },
          clientMessageId: crypto.randomUUID(),
        },
      },
      expect: 201,
    });
  }
  await room(agent, off);
  expect(await known(agent.token)).toEqual(handles(agent, removed, blocked, off));
  await disable(t, off);
  await t.api.call('blockContact', {
    token: agent.token,
    params: { address: blocked.number },
    body: {},
    expect: 200,
  });
  // The conversation of former friends is still there to be read, so its other side is still known.
  await t.api.call('removeContact', {
    token: agent.token,
    params: { address: removed.number },
    body: {},
    expect: 200,
  });
  expect(await known(agent.token)).toEqual(handles(agent, removed));
});

test('a token for certain rooms sees their members only', async () => {
  const [agent, inside, outside, friend] = [
    await t.agent(),
    await t.agent(),
    await t.agent(),
    await t.agent(),
  ];
  const one = await room(agent, inside);
  await room(agent, outside);
  await t.befriend(agent, friend);
  const limited = await openToken(t, agent, { scopes: ['read'], roomIds: [one] });
  expect(await known(limited)).toEqual(handles(agent, inside));
  const none = await openToken(t, agent, { scopes: ['read'], roomIds: [] });
  expect(await known(none)).toEqual(handles(agent));
});

test('an administrator sees everybody who is active; the scope alone does not', async () => {
  const human = await registerHuman(t);
  const token = await openToken(t, human, { scopes: ['read', 'admin'] });
  expect(await known(token)).toEqual(handles(human));
  await t.database.pool.query(`UPDATE identities SET role = 'admin' WHERE id = $1`, [human.id]);
  const { rows } = await t.database.pool.query(
    'SELECT handle FROM identities WHERE disabled_at IS NULL ORDER BY handle',
  );
  expect(rows.length).toBeGreaterThan(10);
  expect(await known(token)).toEqual(rows.map(({ handle }) => handle));
  // Without the scope it is a person like any other.
  expect(await known(human.token)).toEqual(handles(human));
});

test('the list needs the read scope', async () => {
  const token = await openToken(t, await t.agent(), { scopes: ['write'] });
  const reply = await t.api.call('listAgents', { token, expect: 403 });
  expect(reply.body.error.code).toBe('insufficient_scope');
  await t.api.call('listAgents', { expect: 401 });
});
