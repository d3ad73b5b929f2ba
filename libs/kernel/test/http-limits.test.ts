import { setTimeout as sleep } from 'node:timers/promises';
import {
  openToken,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { type Scene, setScene, stored } from './http-support.js';

let t: TestApi;
let scene: Scene;
const running: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  t = await startTestApi();
  scene = await setScene(t);
});
afterAll(async () => {
  for (const replica of running) await replica.close();
  await t.close();
});
async function replica(env: Record<string, string>) {
  const started = await t.replica(env);
  running.push(started);
  return started;
}

describe('the request window', () => {
  type Replica = Awaited<ReturnType<typeof replica>>;
  let limited: Replica;
  beforeAll(async () => {
    limited = await replica({ REQUESTS_PER_MINUTE: '5' });
  });
  const rate = ({ headers }: { headers: Record<string, unknown> }) =>
    ['limit', 'remaining', 'reset'].map((name) => Number(headers[`ratelimit-${name}`]));

  /** Waits for the next window when the running one is about to end, so that no test meets the border. */
  async function clearOfTheBorder() {
    const token = await openToken(t, scene.peer);
    const [, , reset = 0] = rate(await t.api.call('getMe', { token, expect: 200 }));
    if (reset <= 3) await sleep(reset * 1000);
  }

  test('counts down on every authenticated reply, then answers 429 with the time to wait', async () => {
    await clearOfTheBorder();
    const { api } = limited;
    const { token } = scene.me;
    const replies = [
      await api.call('getMe', { token, expect: 200 }),
      // Another token of the same identity shares its window, and failures count as well.
      await api.call('getMe', { token: await openToken(t, scene.me), expect: 200 }),
      await api.raw('POST', '/v1/rooms', { token, body: { name: '' }, expect: 400 }),
      await api.raw('GET', '/v1/identities/@nobody', { token, expect: 404 }),
      await api.raw('GET', '/v1/rooms', {
        token: await openToken(t, scene.me, { scopes: [] }),
        expect: 403,
      }),
    ];
    expect(replies.map((reply) => rate(reply).slice(0, 2))).toEqual(
      [5, 5, 5, 5, 5].map((limit, i) => [limit, 4 - i]),
    );

    const before = await stored(t);
    for (let i = 0; i < 3; i++) {
      const over = await api.call('createRoom', { token, body: { name: 'x' }, expect: 429 });
      const [limit, remaining, reset] = rate(over);
      expect([limit, remaining]).toEqual([5, 0]);
      expect(reset).toBeGreaterThanOrEqual(1);
      expect(reset).toBeLessThanOrEqual(60);
      expect(over.headers['retry-after']).toBe(String(reset));
      expect(over.body.error).toMatchObject({
        code: 'rate_limited',
        details: { retryAfter: reset },
      });
    }
    expect(await stored(t)).toEqual(before);
    // Somebody else is not affected, nor is what needs no token.
    await api.call('getMe', { token: scene.peer.token, expect: 200 });
    await api.call('getDiscovery', { expect: 200 });
    await api.call('getMe', { expect: 401 });
  });

  test('lets exactly as many parallel requests pass as it says', async () => {
    await clearOfTheBorder();
    const [fresh] = (await seedAgents(t, ['parallel'])) as [TestAgent];
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => limited.api.raw('GET', '/v1/me', { token: fresh.token })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(15);
  });
});

describe('the address of the client', () => {
  const register = (api: TestApi['api'], forwarded: string) =>
    api.raw('POST', '/v1/register', {
      body: { kind: 'agent' },
      headers: { 'x-forwarded-for': forwarded },
    });

  test('is that of the connection: a forwarded one is not believed', async () => {
    const { api } = await replica({ REGISTRATIONS_PER_IP_HOUR: '2' });
    const statuses = [];
    for (const last of [1, 2, 3]) {
      const reply = await register(api, `203.0.113.${last}`);
      statuses.push(reply.status);
    }
    expect(statuses).toEqual([201, 201, 429]);
  });

  test('is the right-most hop in front of a trusted proxy, and IPv6 counts by /64', async () => {
    const { api } = await replica({
      REGISTRATIONS_PER_IP_HOUR: '1',
      TRUSTED_PROXIES: '127.0.0.1, ::1, 10.0.0.0/8',
    });
    const status = async (forwarded: string) => (await register(api, forwarded)).status;
    expect(await status('198.51.100.1')).toBe(201);
    expect(await status('198.51.100.2')).toBe(201);
    // What the client wrote itself stands further left and proves nothing.
    expect(await status('203.0.113.7, 198.51.100.2')).toBe(429);
    expect(await status('203.0.113.8, 198.51.100.2, 10.1.2.3')).toBe(429);
    expect(await status('2001:db8:0:1::1')).toBe(201);
    expect(await status('2001:db8:0:1:ffff::9')).toBe(429);
    expect(await status('2001:db8:0:2::1')).toBe(201);
  });
});
