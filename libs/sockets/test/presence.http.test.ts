import { randomUUID } from 'node:crypto';
import {
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import type { ApiClient } from '@relayger/kernel/testing';
import { group, send } from '../../messages/test/support.js';
import { listen, until } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi();
});
beforeEach(async () => {
  const names = ['a', 'b'].map((name) => `${name}-${randomUUID()}`);
  [alice, bob] = (await seedAgents(t, names)) as [TestAgent, TestAgent];
  room = await group(t, alice, bob);
});
afterAll(() => t.close());

/** What one identity sees of another; null when it does not know it. */
async function stateOf(
  who: TestAgent,
  viewer: Pick<TestAgent, 'token'>,
  api: ApiClient = t.api,
): Promise<string | null> {
  const { body } = await api.call('listAgents', { token: viewer.token, expect: 200 });
  return body.find(({ id }) => id === who.id)?.state ?? null;
}

const report = (state: string, api: ApiClient = t.api) =>
  api.call('sendMessage', {
    token: bob.token,
    params: { room },
    body: { ...textMessage(''), type: 'status', payload: { state } } as never,
    expect: 201,
  });

/** Makes what was reported, or prolonged, that much older. */
const age = (seconds: number) =>
  t.database.pool.query(
    `UPDATE presences SET reported_at = reported_at - make_interval(secs => $2) WHERE identity_id = $1`,
    [bob.id, seconds],
  );

test('who has reported nothing is offline, also with a socket', async () => {
  expect(await stateOf(bob, alice)).toBe('offline');
  expect(await stateOf(alice, alice)).toBe('offline');
  const client = await listen(t, bob, room);
  expect(await stateOf(bob, alice)).toBe('offline');
  await client.close();
});

test('companions see what a socket reports, strangers do not know it', async () => {
  const [stranger] = (await seedAgents(t, [`s-${randomUUID()}`])) as [TestAgent];
  const client = await listen(t, bob, room);
  for (const state of ['online', 'idle', 'working', 'waiting', 'offline', 'working']) {
    client.socket.send(JSON.stringify({ state }));
    await until(async () => (await stateOf(bob, alice)) === state);
  }
  expect(await stateOf(bob, stranger)).toBeNull();
  const { body } = await t.api.call('getIdentity', {
    token: stranger.token,
    params: { address: bob.number },
    expect: 200,
  });
  expect(body).not.toHaveProperty('state');
  await client.close();
});

test('a status message is a report, and no other message is', async () => {
  await report('waiting');
  expect(await stateOf(bob, alice)).toBe('waiting');
  await send(t, bob, room, 'hello');
  expect(await stateOf(bob, alice)).toBe('waiting');
  await t.befriend(alice, bob);
  const message = { ...textMessage(''), type: 'status', payload: { state: 'idle' } } as never;
  const body = { target: alice.number, message };
  await t.api.call('sendDirect', { token: bob.token, body, expect: 201 });
  expect(await stateOf(bob, alice)).toBe('idle');
});

test('the repetition of a status message reports nothing', async () => {
  const body = { ...textMessage(''), type: 'status', payload: { state: 'working' } } as never;
  const call = { token: bob.token, params: { room }, body };
  await t.api.call('sendMessage', { ...call, expect: 201 });
  await report('idle');
  await t.api.call('sendMessage', { ...call, expect: 200 });
  expect(await stateOf(bob, alice)).toBe('idle');
});

test('a report counts for ten minutes, and an open socket prolongs it', async () => {
  await report('working');
  await age(590);
  expect(await stateOf(bob, alice)).toBe('working');
  const client = await listen(t, bob, room);
  await until(async () => {
    const { rowCount } = await t.database.pool.query(
      `SELECT FROM presences WHERE identity_id = $1 AND reported_at > now() - interval '10 seconds'`,
      [bob.id],
    );
    return rowCount === 1;
  });
  await age(601);
  expect(await stateOf(bob, alice)).toBe('offline');
  await client.close();
});

test('it runs out seconds after the last socket has closed, not before', async () => {
  const [one, two] = [await listen(t, bob, room), await listen(t, bob, room)];
  one.socket.send('{"state":"working"}');
  await until(async () => (await stateOf(bob, alice)) === 'working');
  await one.close();
  await age(10);
  expect(await stateOf(bob, alice)).toBe('working');
  await two.close();
  await until(async () => {
    // Five seconds in which another socket may be opened.
    const { rowCount } = await t.database.pool.query(
      `SELECT FROM presences WHERE identity_id = $1 AND reported_at < now() - interval '9 minutes'`,
      [bob.id],
    );
    return rowCount === 1;
  });
  await age(5);
  expect(await stateOf(bob, alice)).toBe('offline');
});

test('a socket at another process keeps the report when the last one here closes', async () => {
  const far = await t.replica();
  const [here, there] = [await listen(t, bob, room), await listen(far, bob, room)];
  here.socket.send('{"state":"working"}');
  await until(async () => (await stateOf(bob, alice, far.api)) === 'working');
  await here.close();
  // Prolonged by the other process once it has heard of it: as if nothing had happened.
  await until(async () => {
    const { rows } = await t.database.pool.query<{ fresh: boolean }>(
      `SELECT reported_at > now() - interval '1 minute' AS fresh FROM presences WHERE identity_id = $1`,
      [bob.id],
    );
    return rows[0]?.fresh === true;
  });
  await new Promise((resolve) => setTimeout(resolve, 600));
  await age(5);
  expect(await stateOf(bob, alice)).toBe('working');
  await there.close();
  await far.close();
});
