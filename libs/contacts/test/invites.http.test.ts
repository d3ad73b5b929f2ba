import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

async function invite(issuer: TestAgent, more: { uses?: number; note?: string } = {}) {
  const reply = await t.api.call('createInvite', {
    token: issuer.token,
    body: { expiresIn: 3600, ...more },
    expect: 201,
  });
  return reply.body;
}

const redeem = <S extends number>(who: TestAgent, code: string, expect: S) =>
  t.api.call('redeemInvite', { token: who.token, body: { code }, expect });

test('a code makes both sides friends at once and is then used up', async () => {
  const [alice, bob, carol] = [await t.agent(), await t.agent(), await t.agent()];
  const { code } = await invite(alice);
  expect(code).toMatch(/^rlc_[A-Za-z0-9_-]{43}$/);
  const { body } = await redeem(bob, code, 200);
  expect(body).toEqual({ ok: true, state: 'friend', number: alice.number, handle: alice.handle });
  const { body: contacts } = await t.api.call('listContacts', { token: alice.token, expect: 200 });
  expect(contacts).toEqual([expect.objectContaining({ number: bob.number, state: 'friend' })]);
  expect((await redeem(carol, code, 404)).body.error.code).toBe('invite_not_found');
});

test('one identity redeems a code once: who was removed does not come back with it', async () => {
  const [alice, bob, carol] = [await t.agent(), await t.agent(), await t.agent()];
  const { code } = await invite(alice, { uses: 2 });
  await redeem(bob, code, 200);
  const params = { address: bob.number };
  await t.api.call('removeContact', { token: alice.token, params, body: {}, expect: 200 });
  await redeem(bob, code, 404);
  await redeem(carol, code, 200);
});

test('friends who redeem spend no use', async () => {
  const [alice, bob, carol] = [await t.agent(), await t.agent(), await t.agent()];
  await t.befriend(alice, bob);
  const { code } = await invite(alice);
  await redeem(bob, code, 200);
  await redeem(carol, code, 200);
});

test('an invite overrides an earlier decline but not a block in either direction', async () => {
  const [alice, bob] = [await t.agent(), await t.agent()];
  const to = (who: TestAgent) => ({
    params: { address: who.number },
    body: {},
    expect: 200 as const,
  });
  await t.api.call('requestContact', { token: bob.token, ...to(alice) });
  await t.api.call('rejectContact', { token: alice.token, ...to(bob) });
  const first = await invite(alice);
  await redeem(bob, first.code, 200);

  const second = await invite(alice);
  await t.api.call('blockContact', { token: bob.token, ...to(alice) });
  expect((await redeem(bob, second.code, 403)).body.error.code).toBe('contact_unavailable');
  await t.api.call('unblockContact', { token: bob.token, ...to(alice) });
  await t.api.call('blockContact', { token: alice.token, ...to(bob) });
  expect((await redeem(bob, second.code, 403)).body.error.code).toBe('contact_unavailable');
});

test('the own code, an unknown, an expired and a revoked one are refused', async () => {
  const [alice, bob] = [await t.agent(), await t.agent()];
  const { id, code } = await invite(alice);
  expect((await redeem(alice, code, 400)).body.error.code).toBe('invalid_target');
  expect((await redeem(bob, 'rlc_nothing', 404)).body.error.code).toBe('invite_not_found');

  await t.database.pool.query(
    "UPDATE invites SET expires_at = now() - interval '1 second' WHERE id = $1",
    [id],
  );
  expect((await redeem(bob, code, 404)).body.error.code).toBe('invite_not_found');

  const revoked = await invite(alice);
  await t.api.call('revokeInvite', { token: alice.token, params: { id: revoked.id }, expect: 200 });
  expect((await redeem(bob, revoked.code, 404)).body.error.code).toBe('invite_not_found');
  await t.api.call('revokeInvite', { token: alice.token, params: { id: revoked.id }, expect: 404 });
  await t.api.call('revokeInvite', { token: bob.token, params: { id }, expect: 404 });
});

test('the list shows active invites without their codes', async () => {
  const alice = await t.agent();
  const { id, code } = await invite(alice, { uses: 3, note: 'for the workshop' });
  const reply = await t.api.call('listInvites', { token: alice.token, expect: 200 });
  expect(reply.body).toEqual([
    expect.objectContaining({ id, uses: 3, remaining: 3, note: 'for the workshop' }),
  ]);
  expect(reply.text).not.toContain(code);
});

test('of eleven parallel invites ten are made', async () => {
  const alice = await t.agent();
  const replies = await Promise.all(
    Array.from({ length: 11 }, () =>
      t.api.raw('POST', '/v1/invites', { token: alice.token, body: { expiresIn: 60 } }),
    ),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 429]);
  const refused = await t.api.call('createInvite', {
    token: alice.token,
    body: { expiresIn: 60 },
    expect: 429,
  });
  expect(refused.body.error.code).toBe('invite_limit');
});

test('of many parallel redemptions of a code with two uses two succeed', async () => {
  const alice = await t.agent();
  const { code } = await invite(alice, { uses: 2 });
  const others = await Promise.all(Array.from({ length: 6 }, () => t.agent()));
  const replies = await Promise.all(
    others.map(({ token }) => t.api.raw('POST', '/v1/invites/redeem', { token, body: { code } })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 404, 404, 404, 404]);
});

test.each([
  { expiresIn: 59 },
  { expiresIn: 604_801 },
  { expiresIn: 60, uses: 0 },
  { expiresIn: 60, uses: 21 },
  { expiresIn: 60, note: 'x'.repeat(201) },
  { expiresIn: 60, note: 'two\nlines' },
])('limits hold: %j', async (body) => {
  const alice = await t.agent();
  const reply = await t.api.call('createInvite', { token: alice.token, body, expect: 400 });
  expect(reply.body.error.code).toBe('invalid_request');
});
