import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';

let t: TestApi;
let owner: TestAgent;
let bob: TestAgent;
let carol: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi();
});
beforeEach(async () => {
  [owner, bob, carol] = [await t.agent(), await t.agent(), await t.agent()];
  const { body } = await t.api.call('createRoom', {
    token: owner.token,
    body: { name: 'lab' },
    expect: 201,
  });
  room = body.id;
  for (const { number } of [bob, carol])
    await t.api.call('addMember', {
      token: owner.token,
      params: { room, identity: number },
      expect: 201,
    });
});
afterAll(() => t.close());

const leave = <S extends number>({ token }: TestAgent, expect: S) =>
  t.api.call('leaveRoom', { token, params: { room }, body: {}, expect });
const remove = <S extends number>({ token }: TestAgent, identity: string, expect: S) =>
  t.api.call('removeMember', { token, params: { room, identity }, expect });
const send = ({ token }: TestAgent, expect: 201 | 404) =>
  t.api.call('sendMessage', { token, params: { room }, body: textMessage('to the lab'), expect });
const inbox = async ({ token }: TestAgent) =>
  (await t.api.call('readMailbox', { token, expect: 200 })).body;

test('a member leaves; the room is gone for it and goes on for the others', async () => {
  await leave(bob, 200);
  await leave(bob, 404);
  await send(bob, 404);
  await send(owner, 201);
  expect(await inbox(bob)).toEqual([]);
  expect(await inbox(carol)).toHaveLength(1);
  await t.api.call('listMessages', { token: bob.token, params: { room }, expect: 404 });
});

test('the owner removes members, but cannot leave or remove itself', async () => {
  await remove(owner, bob.number, 200);
  await remove(owner, bob.number, 404);
  expect((await remove(owner, owner.number, 409)).body.error.code).toBe('cannot_remove_owner');
  expect((await leave(owner, 409)).body.error.code).toBe('cannot_remove_owner');
});

test('everybody else removes only themselves, in any spelling, and learns of no other address', async () => {
  for (const identity of [carol.number, '@nobody-here'])
    expect((await remove(bob, identity, 403)).body.error.code).toBe('room_owner_required');
  expect((await remove(bob, '12345', 400)).body.error.code).toBe('invalid_number');
  const mistyped = bob.number.slice(0, 9) + ((Number(bob.number[9]) + 1) % 10);
  expect((await remove(bob, mistyped, 400)).body.error.code).toBe('invalid_number_check_digit');
  await remove(bob, `@${bob.handle}`, 200);
  await remove(carol, `+${carol.number}`, 200);
});

test('after block and leave the one who added it reaches nobody there again', async () => {
  await t.api.call('blockContact', {
    token: bob.token,
    params: { address: owner.number },
    body: {},
    expect: 200,
  });
  await leave(bob, 200);
  const again = {
    token: owner.token,
    params: { room, identity: bob.number },
    expect: 403 as const,
  };
  expect((await t.api.call('addMember', again)).body.error.code).toBe('contact_unavailable');
});

test('the members of a direct conversation stay', async () => {
  await t.befriend(bob, carol);
  const body = { target: carol.number, message: textMessage('only for you') };
  const { body: receipt } = await t.api.call('sendDirect', { token: bob.token, body, expect: 201 });
  const params = { room: (receipt as { room: string }).room };
  const left = await t.api.call('leaveRoom', { token: bob.token, params, body: {}, expect: 409 });
  expect(left.body.error.code).toBe('dm_members_fixed');
  const target = { ...params, identity: carol.number };
  const removed = await t.api.call('removeMember', {
    token: bob.token,
    params: target,
    expect: 409,
  });
  expect(removed.body.error.code).toBe('dm_members_fixed');
});

test('a send that races with the removal of its sender is stored before it or not at all', async () => {
  const sends = Array.from({ length: 20 }, () =>
    t.api.raw('POST', `/v1/rooms/${room}/messages`, {
      token: bob.token,
      body: textMessage('in a hurry'),
    }),
  );
  const removed = remove(owner, bob.number, 200);
  const replies = await Promise.all(sends);
  await removed;
  for (const { status } of replies) expect([201, 404]).toContain(status);
  const before = replies.filter(({ status }) => status === 201).length;
  const { body } = await t.api.call('listMessages', {
    token: owner.token,
    params: { room },
    expect: 200,
  });
  expect(body).toHaveLength(before);
  await send(bob, 404);
});
