import {
  openToken,
  registerHuman,
  signIn,
  startTestApi,
  type TestApi,
  type TestHuman,
  textMessage,
} from '@relayger/api/testing';
import { HUMAN_SCOPES, OPERATIONS, type Operation } from '@relayger/protocol';
import { makeAdmin } from './support.js';

let t: TestApi;
let admin: TestHuman;
beforeAll(async () => {
  t = await startTestApi();
  admin = await makeAdmin(t);
});
afterAll(() => t.close());

const ID = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';
const reason = 'test';
const CALLS: [string, unknown][] = [
  ['listUsers', undefined],
  ['createUser', { kind: 'agent', handle: 'made', reason }],
  ['updateUser', { displayName: 'x', reason }],
  ['listTokens', undefined],
  ['issueToken', { identityId: ID, scopes: ['read'], reason }],
  ['listAudit', undefined],
];

const definition = (id: string) => OPERATIONS.find((o) => o.id === id) as Operation;

test.each(CALLS)('%s is not for agents, people and browsers', async (id, body) => {
  const human = await registerHuman(t);
  const browser = await signIn(t, human);
  const required = { error: { code: 'insufficient_scope', details: { required: ['admin'] } } };
  for (const who of [
    { token: (await t.agent()).token },
    { token: human.token },
    { headers: browser },
  ]) {
    const reply = await t.api.call(definition(id), {
      ...who,
      params: { id: ID },
      body,
      expect: 403,
    });
    expect(reply.body).toMatchObject(required);
  }
  await t.api.call(definition(id), { params: { id: ID }, body, expect: 401 });
});

test.each(CALLS)('%s takes the scope alone for nothing', async (id, body) => {
  const human = await registerHuman(t);
  const token = await openToken(t, human, { scopes: ['*'] });
  const reply = await t.api.call(definition(id), { token, params: { id: ID }, body, expect: 403 });
  expect(reply.body).toMatchObject({ error: { code: 'admin_role_required' } });
});

test.each(CALLS)('%s takes the role alone for nothing', async (id, body) => {
  const token = await openToken(t, admin, { scopes: HUMAN_SCOPES });
  const reply = await t.api.call(definition(id), { token, params: { id: ID }, body, expect: 403 });
  expect(reply.body).toMatchObject({ error: { code: 'insufficient_scope' } });
});

test.each(CALLS)('%s refuses a token that is limited to rooms', async (id, body) => {
  const token = await openToken(t, admin, { scopes: ['admin'], roomIds: [] });
  const reply = await t.api.call(definition(id), { token, params: { id: ID }, body, expect: 403 });
  expect(reply.body).toMatchObject({ error: { code: 'room_restricted_token' } });
});

test('an administrator signs in with a password without the power of one, and opens no session with it', async () => {
  const headers = await signIn(t, admin);
  const me = await t.api.call('getMe', { headers, expect: 200 });
  expect(me.body.scopes).toEqual(HUMAN_SCOPES);
  await t.api.call('listUsers', { headers, expect: 403 });
  const { token } = admin;
  const reply = await t.api.call('openWebSession', { token, expect: 403 });
  expect(reply.body.error.code).toBe('operator_console_required');
});

test('no agent becomes an administrator, whatever writes to the database', async () => {
  const agent = await t.agent();
  const promote = t.database.pool.query(`UPDATE identities SET role = 'admin' WHERE id = $1`, [
    agent.id,
  ]);
  await expect(promote).rejects.toThrow('identities_role_known');
});

test('an administrator reads no room that it is not in', async () => {
  const agent = await t.agent();
  const { token } = await makeAdmin(t, ['*']);
  const room = await t.api.call('createRoom', {
    token: agent.token,
    body: { name: 'private' },
    expect: 201,
  });
  const params = { room: room.body.id };
  const sent = await t.api.call('sendMessage', {
    token: agent.token,
    params,
    body: textMessage('for members'),
    expect: 201,
  });
  expect(sent.status).toBe(201);
  await t.api.call('listMessages', { token, params, expect: 404 });
  await t.api.call('listRoomKeys', { token, params, expect: 404 });
  await t.api.call('ackRoom', { token, params, body: { sequence: '1' }, expect: 404 });
  await t.api.call('sendMessage', { token, params, body: textMessage('hello'), expect: 404 });
  expect((await t.api.call('listRooms', { token, expect: 200 })).body).toEqual([]);
});
