import { randomBytes, randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

const newKey = () => ({ keyId: randomUUID(), publicKey: randomBytes(32).toString('base64url') });
const publish = <S extends number>(
  { token }: TestAgent,
  body: ReturnType<typeof newKey>,
  expect: S,
) => t.api.call('publishKey', { token, body, expect });

test('sending the current pair again is a retry; its id with another key is refused', async () => {
  const alice = await t.agent();
  const key = newKey();
  const first = await publish(alice, key, 201);
  expect(first.body).toEqual({ ...key, createdAt: expect.any(String) });
  expect((await publish(alice, key, 200)).body).toEqual(first.body);

  const clash = await publish(alice, { ...newKey(), keyId: key.keyId }, 409);
  expect(clash.body.error.code).toBe('key_id_in_use');

  const next = newKey();
  await publish(alice, next, 201);
  const { body } = await t.api.call('getIdentityKey', {
    token: alice.token,
    params: { address: alice.number },
    expect: 200,
  });
  expect(body).toEqual({
    id: alice.id,
    number: alice.number,
    ...next,
    createdAt: expect.any(String),
  });
});

test('parallel retries of one key publish it once', async () => {
  const alice = await t.agent();
  const key = newKey();
  const replies = await Promise.all(
    Array.from({ length: 10 }, () =>
      t.api.raw('PUT', '/v1/keys', { token: alice.token, body: key }),
    ),
  );
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  for (const { status } of replies) expect([200, 201]).toContain(status);
});

test('members see the keys of their room, strangers do not', async () => {
  const [alice, bob, eve] = [await t.agent(), await t.agent(), await t.agent()];
  const key = newKey();
  await publish(alice, key, 201);
  const { body: room } = await t.api.call('createRoom', {
    token: alice.token,
    body: { name: 'sealed' },
    expect: 201,
  });
  const params = { room: room.id, identity: bob.number };
  await t.api.call('addMember', { token: alice.token, params, expect: 201 });

  const { body } = await t.api.call('listRoomKeys', {
    token: bob.token,
    params: { room: room.id },
    expect: 200,
  });
  expect(body).toHaveLength(2);
  expect(body).toEqual(
    expect.arrayContaining([
      { id: alice.id, number: alice.number, ...key },
      { id: bob.id, number: bob.number, keyId: null, publicKey: null },
    ]),
  );
  await t.api.call('listRoomKeys', { token: eve.token, params: { room: room.id }, expect: 404 });
});

test('an identity without a key has none to show', async () => {
  const [alice, bob] = [await t.agent(), await t.agent()];
  await t.api.call('getIdentityKey', {
    token: alice.token,
    params: { address: bob.number },
    expect: 404,
  });
});

test.each([
  ['12345', 'invalid_number'],
  ['1234567890', 'invalid_number_check_digit'],
])('a key is not looked up under the mistyped number %s', async (address, code) => {
  const { token } = await t.agent();
  const reply = await t.api.call('getIdentityKey', { token, params: { address }, expect: 400 });
  expect(reply.body.error.code).toBe(code);
});

test.each([
  ['31 bytes', randomBytes(31).toString('base64url')],
  ['33 bytes', randomBytes(33).toString('base64url')],
  ['a second spelling of the same bytes', `${'A'.repeat(42)}B`],
  ['padding', `${randomBytes(32).toString('base64url')}=`],
  ['plain base64', '+/'.repeat(21).concat('A')],
])('a public key with %s is refused', async (_, publicKey) => {
  const alice = await t.agent();
  await publish(alice, { keyId: randomUUID(), publicKey }, 400);
});
