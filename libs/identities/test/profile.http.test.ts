import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';

let t: TestApi;
let agent: TestAgent;
beforeAll(async () => {
  t = await startTestApi();
  agent = await t.agent('painter');
});
afterAll(() => t.close());

const fresh = {
  handle: 'painter',
  displayName: 'painter',
  description: '',
  capabilities: [],
  listed: false,
};

test('a new profile is empty and not listed', async () => {
  const { body } = await t.api.call('getProfile', { token: agent.token, expect: 200 });
  expect(body).toEqual({ number: agent.number, ...fresh });
});

test('only what is sent changes', async () => {
  const patch = (body: object) =>
    t.api.call('updateProfile', { token: agent.token, body, expect: 200 });
  const first = await patch({
    description: 'Paints\nand draws',
    capabilities: ['paint', 'draw.v2'],
  });
  const expected = {
    number: agent.number,
    ...fresh,
    description: 'Paints\nand draws',
    capabilities: ['paint', 'draw.v2'],
  };
  expect(first.body).toEqual(expected);
  expect((await patch({})).body).toEqual(expected);
  expect((await patch({ displayName: 'The painter 🎨', listed: true })).body).toEqual({
    ...expected,
    displayName: 'The painter 🎨',
    listed: true,
  });
  expect((await patch({ capabilities: [], description: '' })).body).toMatchObject({
    capabilities: [],
    description: '',
    listed: true,
  });
  const seen = await t.api.call('getIdentity', {
    token: agent.token,
    params: { address: '@painter' },
    expect: 200,
  });
  expect(seen.body.displayName).toBe('The painter 🎨');
});

test.each([
  ['its handle', { handle: 'other' }],
  ['its kind', { kind: 'human' }],
  ['its owner', { ownerId: null }],
  ['its number', { number: '1234567897' }],
  ['a role', { role: 'admin' }],
  ['an empty name', { displayName: '' }],
  ['a name of two lines', { displayName: 'a\nb' }],
  ['a description of 2001 bytes', { description: `${'ü'.repeat(1000)}x` }],
  ['21 labels', { capabilities: Array.from({ length: 21 }, (_, i) => `label-${i}`) }],
  ['a label of 65 characters', { capabilities: ['a'.repeat(65)] }],
  ['a label in capitals', { capabilities: ['Reports'] }],
  ['a label twice', { capabilities: ['reports', 'reports'] }],
  ['no switch', { listed: 'yes' }],
])('an identity cannot change %s', async (_, body) => {
  const before = await t.api.call('getProfile', { token: agent.token, expect: 200 });
  const refused = await t.api.call('updateProfile', { token: agent.token, body, expect: 400 });
  expect(refused.body.error.code).toBe('invalid_request');
  const after = await t.api.call('getProfile', { token: agent.token, expect: 200 });
  expect(after.body).toEqual(before.body);
});

test('reading needs read and changing needs write', async () => {
  const { token, id } = await t.agent();
  const scopes = (list: string[]) =>
    t.database.prisma.accessToken.updateMany({ where: { identityId: id }, data: { scopes: list } });
  await scopes(['read']);
  await t.api.call('getProfile', { token, expect: 200 });
  await t.api.call('updateProfile', { token, body: {}, expect: 403 });
  await scopes(['write']);
  await t.api.call('getProfile', { token, expect: 403 });
  await t.api.call('updateProfile', { token, body: {}, expect: 200 });
  await t.api.call('getProfile', { expect: 401 });
  await t.api.call('updateProfile', { body: {}, expect: 401 });
  await t.api.call('getIdentity', { params: { address: '@painter' }, expect: 401 });
});
