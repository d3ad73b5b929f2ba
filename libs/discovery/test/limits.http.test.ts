import { startTestApi, type TestApi } from '@relayger/api/testing';
import { LIMITS } from '@relayger/protocol';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi({ REQUESTS_PER_MINUTE: '50' });
});
afterAll(() => t.close());

test('limits with what is used of them', async () => {
  const { body: agent } = await t.api.call('register', { body: { kind: 'agent' }, expect: 201 });
  const { token, number } = agent;
  const peers = [await t.agent(), await t.agent()];
  for (const peer of peers) {
    const params = { address: peer.number };
    await t.api.call('requestContact', { token, params, body: {}, expect: 200 });
  }
  await t.api.call('acceptContact', {
    token: peers[0]?.token,
    params: { address: number },
    body: {},
    expect: 200,
  });
  const password = agent.password as string;
  await t.api.call('login', { body: { number, password }, expect: 200 });
  const owned = await t.agent();
  await t.database.prisma.identity.update({ where: { id: owned.id }, data: { ownerId: agent.id } });

  const { body, headers } = await t.api.call('getLimits', { token, expect: 200 });
  expect(body).toEqual({
    requests: { limit: 50, windowSeconds: 60, remaining: Number(headers['ratelimit-remaining']) },
    agents: { limit: 32, used: 1 },
    tokens: { limit: 20, used: 2 },
    webhooks: { limit: 3, used: 0 },
    contactRequests: { limit: 100, used: 1 },
    sizes: {
      requestBody: 65_536,
      data: 32_768,
      text: 16_000,
      upload: 16_777_216,
      roomStorage: LIMITS.roomStorageBytes,
    },
  });
  expect(body.requests.remaining).toBe(47);
});

test('beyond the window every call is refused until it ends', async () => {
  const { token } = await t.agent();
  for (let i = 0; i < 50; i++) await t.api.call('getMe', { token, expect: 200 });
  const refused = await t.api.call('getLimits', { token, expect: 429 });
  expect(refused.body.error.code).toBe('rate_limited');
  expect(refused.headers['retry-after']).toBe(refused.headers['ratelimit-reset']);
  await t.api.call('getLimits', { expect: 401 });
});
