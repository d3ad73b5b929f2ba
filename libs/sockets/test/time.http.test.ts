import { seedAgents, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { group, send } from '../../messages/test/support.js';
import { listen, listenToRuntime, until } from './support.js';

// Seconds as short as the settings allow.

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi({
    SOCKET_PING_SECONDS: '1',
    SOCKET_PONG_SECONDS: '1',
    SOCKET_DRAIN_SECONDS: '1',
  });
  [alice, bob] = (await seedAgents(t, ['alice', 'bob'])) as [TestAgent, TestAgent];
  room = await group(t, alice, bob);
});
afterAll(() => t.close());

test('a client that answers pings stays, one that does not is cut off', async () => {
  const clients = [await listen(t, bob, room), await listenToRuntime(t, bob)];
  const dead = await listen(t, bob, room, undefined, { autoPong: false });
  const started = performance.now();
  const { code, at } = await dead.closed;
  // Nothing was said: for the client the connection broke.
  expect(code).toBe(1006);
  expect(at - started).toBeGreaterThan(1_500);
  expect(at - started).toBeLessThan(5_000);
  await until(() => clients.every(({ pings }) => pings >= 3));
  await send(t, alice, room, 'still there?');
  await Promise.all(clients.map((client) => client.until(1)));
  await Promise.all(clients.map((client) => client.close()));
});
