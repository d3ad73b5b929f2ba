import { HUMAN_PASSWORD, registerHuman, startTestApi, type TestApi } from '@relayger/api/testing';
import { HUMAN_SCOPES } from '@relayger/protocol';
import { tally } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

const body = {
  kind: 'human' as const,
  handle: 'grace',
  displayName: 'Grace',
  email: 'Grace.H@Example.com',
  password: HUMAN_PASSWORD,
};

test('a person registers with an address and gets a token, a number and one recovery key', async () => {
  const { body: made } = await t.api.call('register', { body, expect: 201 });
  expect(Object.keys(made).sort()).toEqual([
    'expiresAt',
    'handle',
    'id',
    'number',
    'recoveryKey',
    'scopes',
    'token',
  ]);
  expect(made.recoveryKey).toMatch(/^RK(-[2-9A-HJKMNP-Z]{4}){6}$/);
  expect(made.scopes).toEqual(HUMAN_SCOPES);
  const me = await t.api.call('getMe', { token: made.token, expect: 200 });
  expect(me.body).toMatchObject({ kind: 'human', displayName: 'Grace', ownerId: null });

  const { rows } = await t.database.pool.query(
    `SELECT c.password_hash, c.recovery_key_hash, e.address FROM credentials c
       JOIN human_emails e USING (identity_id) WHERE identity_id = $1`,
    [made.id],
  );
  expect(rows).toEqual([
    {
      password_hash: expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/),
      recovery_key_hash: expect.objectContaining({ length: 32 }),
      address: 'grace.h@example.com',
    },
  ]);
});

test('a taken address and a taken handle are refused alike, and nothing is made', async () => {
  const { handle, email } = await registerHuman(t);
  const taken = [
    { ...body, handle, email: 'free@example.com' },
    { ...body, handle: 'free', email },
    { ...body, handle: 'free', email: email.toUpperCase() },
  ];
  const errors = [];
  for (const request of taken) {
    const reply = await t.api.call('register', { body: request, expect: 409 });
    const { requestId: _, ...error } = reply.body.error;
    errors.push(JSON.stringify(error));
  }
  expect(new Set(errors).size).toBe(1);
  const { rows } = await t.database.pool.query(
    `SELECT 1 FROM identities WHERE handle = 'free'
      UNION ALL SELECT 1 FROM human_emails WHERE address = 'free@example.com'`,
  );
  expect(rows).toEqual([]);
});

test('an address that many register at once goes to one of them', async () => {
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      t.api.raw('POST', '/v1/register', {
        body: { ...body, handle: `race-${i}`, email: 'race@example.com' },
      }),
    ),
  );
  expect(tally(replies)).toEqual({ 201: 1, 409: 7 });
});

test.each([
  ['no handle', { handle: undefined }, 'body.handle'],
  ['no name', { displayName: undefined }, 'body.displayName'],
  ['no address', { email: undefined }, 'body.email'],
  ['no password', { password: undefined }, 'body.password'],
  ['no address at all', { email: 'grace' }, 'body.email'],
  ['a field of its own', { role: 'admin' }, 'body'],
  ['an unknown kind', { kind: 'service' }, 'body.kind'],
])('a registration with %s is malformed', async (_, change, path) => {
  const request = { ...body, handle: 'malformed', email: 'malformed@example.com', ...change };
  const reply = await t.api.call('register', { body: request, expect: 400 });
  expect(reply.body.error).toMatchObject({
    code: 'invalid_request',
    details: { issues: [{ path }] },
  });
});

test.each(['short pass', 'aaaaaaaaaaab', 'grace-is-my-name', 'GRACE and 12 more'])(
  'the password %s is too weak',
  async (password) => {
    const reply = await t.api.call('register', {
      body: { ...body, email: 'weak@example.com', password },
      expect: 400,
    });
    expect(reply.body.error.code).toBe('weak_password');
  },
);

test('an agent cannot take part with the number sign-in of agents', async () => {
  const { number, password } = await registerHuman(t);
  const reply = await t.api.call('login', { body: { number, password }, expect: 401 });
  expect(reply.body.error.code).toBe('invalid_credentials');
});

test('people and agents share the limits', async () => {
  const { api, close } = await t.replica({ REGISTRATIONS_PER_IP_HOUR: '2' });
  const first = { ...body, handle: 'limited', email: 'limited@example.com' };
  await t.database.pool.query('DELETE FROM limit_counters');
  await api.call('register', { body: { kind: 'agent' }, expect: 201 });
  await api.call('register', { body: first, expect: 201 });
  const reply = await api.call('register', {
    body: { ...body, handle: 'limited-2', email: 'limited2@example.com' },
    expect: 429,
  });
  expect(reply.body.error.code).toBe('registration_limit');
  await close();
});

test('asking which addresses are taken ends after ten failures for each registration one may make', async () => {
  const { email } = await registerHuman(t);
  const { api, close } = await t.replica({ REGISTRATIONS_PER_IP_HOUR: '1' });
  await t.database.pool.query('DELETE FROM limit_counters');
  const statuses = [];
  for (let i = 0; i < 12; i++) {
    const request = { ...body, handle: `probe-${i}`, email };
    statuses.push(await api.raw('POST', '/v1/register', { body: request }));
  }
  expect(tally(statuses)).toEqual({ 409: 10, 429: 2 });
  await close();
});

test('a closed server lets no person in', async () => {
  const { api, close } = await t.replica({ REGISTRATION_ENABLED: 'false' });
  const reply = await api.call('register', { body, expect: 403 });
  expect(reply.body.error.code).toBe('registration_closed');
  await close();
});

test('where people have no passwords they register with a token alone', async () => {
  const { api, origin, close } = await t.replica({ HUMAN_PASSWORD_AUTH: 'false' });
  const discovery = await api.call('getDiscovery', { expect: 200 });
  expect(discovery.body.registration).toMatchObject({
    humanPasswordAuth: false,
    humanEmailRequired: false,
  });
  const plain = { kind: 'human' as const, handle: 'plain', displayName: 'Plain' };
  for (const extra of [
    { password: HUMAN_PASSWORD },
    { email: 'plain@example.com' },
    { email: 'plain@example.com', password: HUMAN_PASSWORD },
  ]) {
    const reply = await api.call('register', { body: { ...plain, ...extra }, expect: 400 });
    expect(reply.body.error.code).toBe('agent_only_fields');
  }
  const { body: made } = await api.call('register', { body: plain, expect: 201 });
  expect(made).not.toHaveProperty('recoveryKey');
  expect(made.scopes).toEqual(HUMAN_SCOPES);
  const session = await api.call('openWebSession', { token: made.token, expect: 201 });
  expect(session.body.id).toBe(made.id);

  const credentials = { email: 'plain@example.com', password: HUMAN_PASSWORD };
  const login = await api.call('humanLogin', {
    headers: { origin },
    body: credentials,
    expect: 503,
  });
  expect(login.body.error.code).toBe('human_password_off');
  const recovery = await api.call('recoverHuman', {
    body: { email: credentials.email, recoveryKey: 'RK-X', newPassword: HUMAN_PASSWORD },
    expect: 503,
  });
  expect(recovery.body.error.code).toBe('human_password_off');
  const change = await api.call('changeHumanPassword', {
    token: made.token,
    body: { ...credentials, newPassword: HUMAN_PASSWORD },
    expect: 503,
  });
  expect(change.body.error.code).toBe('human_password_off');
  await close();
});

test('discovery says that people need an address and have passwords', async () => {
  const { body: discovery } = await t.api.call('getDiscovery', { expect: 200 });
  expect(discovery.registration).toMatchObject({
    humanPasswordAuth: true,
    humanEmailRequired: true,
    humanEmailVerificationRequired: false,
  });
});
