import { randomUUID } from 'node:crypto';
import {
  disable,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';

let t: TestApi;
let owner: TestAgent;
let serial = 0;
beforeAll(async () => {
  t = await startTestApi();
  [owner] = (await seedAgents(t, ['owner'])) as [TestAgent];
});
afterAll(() => t.close());

async function agent(): Promise<TestAgent> {
  return (await seedAgents(t, [`agent-${serial++}`]))[0] as TestAgent;
}
async function group(...members: TestAgent[]): Promise<string> {
  const body = { name: 'general' };
  const { body: room } = await t.api.call('createRoom', { token: owner.token, body, expect: 201 });
  for (const { id } of members) expect(await add(room.id, id)).toBe(201);
  return room.id;
}
/** Adds by number, handle or id; answers the status of a success, the code of a failure. */
async function add(room: string, address: string, by = owner): Promise<unknown> {
  const path = `/v1/rooms/${room}/members/${encodeURIComponent(address)}`;
  const { status, body } = await t.api.raw('PUT', path, { token: by.token });
  if (status < 300) expect(body).toEqual({ ok: true });
  return status < 300 ? status : (body as { error: { code: string } }).error.code;
}
async function block(a: TestAgent, b: TestAgent): Promise<void> {
  const params = { address: b.number };
  await t.api.call('blockContact', { token: a.token, params, body: {}, expect: 200 });
}
async function roomOf(who: TestAgent, room: string) {
  const { body } = await t.api.call('listRooms', { token: who.token, expect: 200 });
  return body.find(({ id }) => id === room);
}

test('the owner adds a stranger by number, handle or id: 201 the first time, 200 after that', async () => {
  for (const key of ['number', 'handle', 'id'] as const) {
    const [room, guest] = [await group(), await agent()];
    expect(await add(room, guest[key])).toBe(201);
    expect(await add(room, guest.number.replace(/(...)/, '+($1) '))).toBe(200);
    expect(await add(room, `@${guest.handle}`)).toBe(200);
    expect(await roomOf(guest, room)).toMatchObject({ ownerId: owner.id, members: 2 });
  }
});

test('the owner is a member already', async () => {
  expect(await add(await group(), owner.number)).toBe(200);
});

test('many parallel additions of one identity make one member', async () => {
  const [room, guest] = [await group(), await agent()];
  const replies = await Promise.all(Array.from({ length: 10 }, () => add(room, guest.number)));
  expect(replies.filter((reply) => reply === 201)).toHaveLength(1);
  expect(replies.filter((reply) => reply === 200)).toHaveLength(9);
  expect(await roomOf(owner, room)).toMatchObject({ members: 2 });
});

test('what was said before the addition is history, not mail', async () => {
  const [room, guest] = [await group(), await agent()];
  const params = { room };
  const send = (text: string) =>
    t.api.call('sendMessage', { token: owner.token, params, body: textMessage(text), expect: 201 });
  await send('before');
  await add(room, guest.number);
  expect(await roomOf(guest, room)).toMatchObject({
    sequence: '1',
    deliveredSequence: '1',
    unread: 0,
  });
  await send('after');
  const { body: mail } = await t.api.call('readMailbox', { token: guest.token, expect: 200 });
  expect(mail.map(({ seq }) => seq)).toEqual(['2']);
  const { body: history } = await t.api.call('listMessages', {
    token: guest.token,
    params,
    expect: 200,
  });
  expect(history.map(({ sequence }) => sequence)).toEqual(['1', '2']);
});

test('a member that does not own the room is refused before the address is looked at', async () => {
  const [member, known] = [await agent(), await agent()];
  const room = await group(member);
  for (const address of [
    known.number,
    '1234567897',
    '1234567890',
    '12',
    '@nobody',
    'N0!',
    member.id,
  ]) {
    expect(await add(room, address, member)).toBe('room_owner_required');
  }
  expect(await roomOf(owner, room)).toMatchObject({ members: 2 });
});

test('a room of others looks like a room that does not exist, whatever the address', async () => {
  const [room, stranger] = [await group(), await agent()];
  for (const address of [stranger.number, '1234567897', '1234567890', '@nobody', 'N0!']) {
    expect(await add(room, address, stranger)).toBe('not_found');
    expect(await add(randomUUID(), address, stranger)).toBe('not_found');
  }
});

test.each([
  ['1234567897', 'not_found'],
  ['@nobody', 'not_found'],
  ['1234567890', 'invalid_number_check_digit'],
  ['123', 'invalid_number'],
  ['N0!', 'invalid_request'],
])('to the owner the address %s is %s', async (address, code) => {
  expect(await add(await group(), address)).toBe(code);
});

test('a disabled identity cannot be added', async () => {
  const [room, gone] = [await group(), await agent()];
  await disable(t, gone);
  expect(await add(room, gone.number)).toBe('not_found');
});

test.each(['0190B2F4-7C1D-7E3A-9B52-1F6C2D8E4A01', 'general', '1', '0190b2f4', '%00', "'"])(
  'the room id %s is invalid_request',
  async (room) => {
    const path = `/v1/rooms/${room}/members/@nobody`;
    const { body } = await t.api.raw('PUT', path, { token: owner.token, expect: 400 });
    expect(body).toMatchObject({
      error: { code: 'invalid_request', details: { issues: [{ path: 'params.room' }] } },
    });
  },
);

test('nobody is added across a block with the owner or with any member, whoever blocked', async () => {
  const [first, second] = [await agent(), await agent()];
  const room = await group(first, second);
  for (const insider of [owner, first, second]) {
    for (const direction of ['in', 'out']) {
      const guest = await agent();
      await (direction === 'in' ? block(insider, guest) : block(guest, insider));
      expect(await add(room, guest.number)).toBe('contact_unavailable');
      expect(await roomOf(guest, room)).toBeUndefined();
    }
  }
  // A decline is no block: no friendship is needed for a group.
  const declined = await agent();
  const params = { address: declined.number };
  await t.api.call('requestContact', { token: first.token, params, body: {}, expect: 200 });
  const back = { address: first.number };
  await t.api.call('rejectContact', { token: declined.token, params: back, body: {}, expect: 200 });
  expect(await add(room, declined.number)).toBe(201);
});

test('a block among members changes nothing in the group, and lifting one lets its other side in', async () => {
  const [a, b, guest] = [await agent(), await agent(), await agent()];
  const room = await group(a, b);
  await block(a, b);
  expect(await add(room, b.number)).toBe(200);
  expect(await roomOf(b, room)).toMatchObject({ members: 3 });

  await block(a, guest);
  expect(await add(room, guest.number)).toBe('contact_unavailable');
  const params = { address: guest.number };
  await t.api.call('unblockContact', { token: a.token, params, body: {}, expect: 200 });
  expect(await add(room, guest.number)).toBe(201);
});

test('two who block each other do not both get in, also when they are added at the same moment', async () => {
  for (let round = 0; round < 10; round++) {
    const [a, b, room] = [await agent(), await agent(), await group()];
    await block(a, b);
    const replies = await Promise.all([add(room, a.number), add(room, b.number)]);
    expect(replies.sort()).toEqual([201, 'contact_unavailable']);
  }
});

test('the members of a direct conversation are fixed, for both sides and for every address', async () => {
  const [a, b, third] = [await agent(), await agent(), await agent()];
  await t.befriend(a, b);
  const body = { target: b.number, message: textMessage('hi') };
  const { body: receipt } = await t.api.call('sendDirect', { token: a.token, body, expect: 201 });
  const { room } = receipt as { room: string };
  for (const who of [a, b]) {
    for (const address of [third.number, a.number, '1234567890']) {
      expect(await add(room, address, who)).toBe('dm_members_fixed');
    }
  }
  expect(await add(room, third.number, third)).toBe('not_found');
});
