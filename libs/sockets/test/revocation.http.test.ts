import { randomUUID } from 'node:crypto';
import {
  disable,
  openToken,
  registerHuman,
  seedAgents,
  signIn,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import { AGENT_SCOPES, LIMITS } from '@relayger/protocol';
import { group, join, parked, send } from '../../messages/test/support.js';
import { Client, listen, listenToRuntime, runtimeOf } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi();
});
beforeEach(async () => {
  const handles = ['a', 'b'].map((name) => `${name}-${randomUUID()}`);
  [alice, bob] = (await seedAgents(t, handles)) as [TestAgent, TestAgent];
  room = await group(t, alice, bob);
});
afterAll(() => t.close());

/** The generous side of "at once"; what only a timer notices takes seconds. */
const AT_ONCE_MS = 1_500;

/** Does something that ends a permission, and proves that the sockets were told at once to stay away. */
async function endsAtOnce(clients: Client[], act: () => Promise<unknown>): Promise<void> {
  await act();
  const done = performance.now();
  for (const { closed } of clients) {
    const { code, at } = await closed;
    expect(code).toBe(1008);
    expect(at - done).toBeLessThan(AT_ONCE_MS);
  }
}

async function staysOpen(client: Client): Promise<void> {
  const before = client.frames.length;
  await send(t, alice, room, 'still there?');
  await client.until(before + 1);
  await client.close();
}

describe('a membership that ends closes the room', () => {
  it('by removal, and only for the one who was removed', async () => {
    const [carol] = (await seedAgents(t, [`c-${randomUUID()}`])) as [TestAgent];
    await join(t, alice, room, carol);
    const [his, hers] = await Promise.all([listen(t, bob, room), listen(t, carol, room)]);
    const params = { room, identity: bob.id };
    await endsAtOnce([his], () =>
      t.api.call('removeMember', { token: alice.token, params, expect: 200 }),
    );
    await staysOpen(hers);
    expect(his.frames).toEqual([]);
  });

  it('by leaving', async () => {
    const client = await listen(t, bob, room);
    await endsAtOnce([client], () =>
      t.api.call('leaveRoom', { token: bob.token, params: { room }, body: {}, expect: 200 }),
    );
  });

  it('and nothing that is said afterwards gets out, however close it follows', async () => {
    for (let round = 0; round < 5; round++) {
      const client = await listen(t, bob, room);
      const params = { room, identity: bob.id };
      const sends = Promise.all([1, 2, 3].map(() => send(t, alice, room, 'before or after')));
      await t.api.call('removeMember', { token: alice.token, params, expect: 200 });
      const { seq } = await send(t, alice, room, 'after');
      await sends;
      expect((await client.closed).code).toBe(1008);
      expect(client.sequences).not.toContain(Number(seq));
      await join(t, alice, room, bob);
    }
  });

  it('by a block: the direct conversation of both sides, and no group', async () => {
    await t.befriend(alice, bob);
    const body = { target: bob.number, message: textMessage('hello') };
    const { body: receipt } = await t.api.call('sendDirect', {
      token: alice.token,
      body,
      expect: 201,
    });
    const dm = (receipt as { room: string }).room;
    const [hers, his, groups] = await Promise.all([
      listen(t, alice, dm),
      listen(t, bob, dm),
      listen(t, bob, room),
    ]);
    const block = { token: bob.token, params: { address: alice.number }, body: {} };
    await endsAtOnce([hers, his], () => t.api.call('blockContact', { ...block, expect: 200 }));
    await staysOpen(groups);
    await expect(listen(t, alice, dm)).rejects.toThrow('404');
  });
});

describe('a token that ends closes what was opened with it', () => {
  /** Two sockets and a waiting mailbox under a token of its own, and a socket under the agent's first one. */
  async function underToken(token: string) {
    const runtime = await runtimeOf(t, bob);
    const clients = [
      await listen(t, { token }, room),
      await Client.open(t.origin, { token }, `runtime=${runtime}`),
    ];
    const waiting = t.api
      .call('readMailbox', { token, query: { wait: 50 }, expect: 401 })
      .then(({ body }) => ({ code: body.error.code, at: performance.now() }));
    await parked();
    return { clients, waiting };
  }

  async function ends(token: string, act: () => Promise<unknown>): Promise<void> {
    const { clients, waiting } = await underToken(token);
    await endsAtOnce(clients, act);
    const { code, at } = await waiting;
    expect(code).toBe('unauthorized');
    expect(performance.now() - at).toBeLessThan(AT_ONCE_MS);
  }

  it('when the agent ends its other sessions', async () => {
    const other = await listen(t, bob, room);
    await ends(await openToken(t, bob), () =>
      t.api.call('revokeSessions', { token: bob.token, body: { session: 'others' }, expect: 200 }),
    );
    await staysOpen(other);
  });

  it('when it ends its own', async () => {
    await ends(bob.token, () =>
      t.api.call('revokeSessions', { token: bob.token, body: { session: 'current' }, expect: 200 }),
    );
  });

  it('when it changes its password, and when it recovers its account', async () => {
    const registered = await t.api.call('register', {
      body: { kind: 'agent', password: 'correct horse 9 battery' },
      expect: 201,
    });
    const { number, recoveryKey = '', token: first, id, handle } = registered.body;
    bob = { id, number, handle, token: first };
    await join(t, alice, room, bob);
    await ends(await openToken(t, bob), () =>
      t.api.call('changePassword', {
        token: first,
        body: { current: 'correct horse 9 battery', password: 'wrong horse 10 battery' },
        expect: 200,
      }),
    );
    await ends(first, () => t.api.call('recover', { body: { number, recoveryKey }, expect: 200 }));
  });

  it('when a sign-in closes the oldest of twenty', async () => {
    const { body } = await t.api.call('register', {
      body: { kind: 'agent', password: 'correct horse 9 battery' },
      expect: 201,
    });
    bob = body;
    await join(t, alice, room, bob);
    for (let i = 1; i < LIMITS.openTokens; i++) await openToken(t, bob);
    await ends(bob.token, () =>
      t.api.call('login', {
        body: { number: bob.number, password: 'correct horse 9 battery' },
        expect: 200,
      }),
    );
  });

  it('when its owner revokes it or disables the agent', async () => {
    const owner = await registerHuman(t);
    const account = { token: owner.token };
    const { body: agent } = await t.api.call('createOwnedAgent', {
      ...account,
      body: { handle: `o-${randomUUID()}` },
      expect: 201,
    });
    const issue = async () => {
      const body = { scopes: [...AGENT_SCOPES] };
      const params = { id: agent.id };
      return (await t.api.call('issueAgentToken', { ...account, params, body, expect: 201 })).body;
    };
    const [one, two] = [await issue(), await issue()];
    bob = { ...agent, token: one.token };
    await join(t, alice, room, bob);
    const params = { id: agent.id, tokenId: one.id };
    await ends(one.token, () =>
      t.api.call('revokeAgentToken', { ...account, params, expect: 200 }),
    );
    bob.token = two.token;
    await ends(two.token, () =>
      t.api.call('disableOwnedAgent', {
        ...account,
        params: { id: agent.id },
        body: {},
        expect: 200,
      } as never),
    );
  });

  it('when a person signs out: a wait under the cookie', async () => {
    const headers = await signIn(t, await registerHuman(t));
    const waiting = t.api.call('readMailbox', { headers, query: { wait: 50 }, expect: 401 });
    await parked();
    await t.api.call('closeWebSession', { headers, expect: 200 });
    const done = performance.now();
    await waiting;
    expect(performance.now() - done).toBeLessThan(AT_ONCE_MS);
  });

  it('when it expires, without anybody doing anything', async () => {
    const token = await openToken(t, bob, { expiresIn: 1 });
    const client = await listen(t, { token }, room);
    const started = performance.now();
    expect((await client.closed).code).toBe(1008);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('within five seconds when nobody tells: a lost wake', async () => {
    const [room1, runtime] = [await listen(t, bob, room), await listenToRuntime(t, bob)];
    await disable(t, bob);
    const started = performance.now();
    for (const { closed } of [room1, runtime]) expect((await closed).code).toBe(1008);
    expect(performance.now() - started).toBeLessThan(6_000);
  });
});
