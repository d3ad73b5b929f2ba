import { randomUUID } from 'node:crypto';
import {
  openToken,
  registerHuman,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import { OPERATIONS, type Operation } from '@relayger/protocol';

// Who gets at what is in a room: its members, and nobody else by any call.

let t: TestApi;
let owner: TestAgent;
let member: TestAgent;
let stranger: TestAgent;
let room: string;
let message: string;
let serial = 0;
beforeAll(async () => {
  t = await startTestApi();
});
beforeEach(async () => {
  serial++;
  const handles = ['owner', 'member', 'stranger'].map((name) => `${name}-${serial}`);
  [owner, member, stranger] = (await seedAgents(t, handles)) as [TestAgent, TestAgent, TestAgent];
  room = await group();
  await add(member, 201);
  message = await send(owner, room);
});
afterAll(() => t.close());

async function group(by = owner): Promise<string> {
  const body = { name: 'lab' };
  return (await t.api.call('createRoom', { token: by.token, body, expect: 201 })).body.id;
}
const add = (who: TestAgent, expect: 200 | 201) =>
  t.api.call('addMember', { token: owner.token, params: { room, identity: who.id }, expect });
const remove = (who: TestAgent, expect: 200 | 404, by = owner) =>
  t.api.call('removeMember', { token: by.token, params: { room, identity: who.number }, expect });
async function send({ token }: TestAgent, to: string, text = 'hello'): Promise<string> {
  const call = { token, params: { room: to }, query: { view: 'receipt' } } as const;
  const { body } = await t.api.call('sendMessage', {
    ...call,
    body: textMessage(text),
    expect: 201,
  });
  return (body as { id: string }).id;
}
const act = (who: TestAgent, verb: 'block' | 'unblock', whom: TestAgent) =>
  t.api.call(`${verb}Contact`, {
    token: who.token,
    params: { address: whom.number },
    body: {},
    expect: 200,
  });

/** Every call that reads one room. */
const READS = OPERATIONS.filter(
  ({ method, path }) => method === 'GET' && path.startsWith('/v1/rooms/{room}'),
);
const names = READS.map(({ id }) => id);

/** What each of them answers: its status. */
async function read(token: string, where = room, id = message): Promise<Record<string, number>> {
  const one = async (operation: Operation) => {
    const path = operation.path.replace('{room}', where).replace('{id}', id);
    return (await t.api.raw('GET', path, { token })).status;
  };
  return Object.fromEntries(
    await Promise.all(READS.map(async (operation) => [operation.id, await one(operation)])),
  );
}
const all = (status: number) => Object.fromEntries(names.map((name) => [name, status]));

/** The room is nowhere to be found, and nothing of it is pending. */
async function expectNothing(token: string, where = room, id = message): Promise<void> {
  expect(await read(token, where, id)).toEqual(all(404));
  const rooms = await t.api.call('listRooms', { token, expect: 200 });
  expect(rooms.body.map((listed) => listed.id)).not.toContain(where);
  const mail = await t.api.call('readMailbox', { token, expect: 200 });
  expect(mail.body.filter((item) => item.room === where)).toEqual([]);
}

test('the reads are those of the contract', () => {
  expect(names).toEqual(
    expect.arrayContaining([
      'getRoom',
      'listMembers',
      'listRoomKeys',
      'listMessages',
      'getMessage',
      'getThread',
    ]),
  );
});

test('members read everything, also what was said before they came; others find no such room', async () => {
  const late = (await seedAgents(t, [`late-${serial}`]))[0] as TestAgent;
  await add(late, 201);
  for (const { token } of [owner, member, late]) expect(await read(token)).toEqual(all(200));
  await expectNothing(stranger.token);
  expect(await read(stranger.token, randomUUID())).toEqual(all(404));
});

test('a foreign room and one that does not exist answer with the same words', async () => {
  for (const { path } of READS) {
    const errors = [];
    for (const where of [room, randomUUID()]) {
      const url = path.replace('{room}', where).replace('{id}', message);
      const { body } = await t.api.raw('GET', url, { token: stranger.token, expect: 404 });
      const { requestId: _, ...error } = (body as { error: { requestId: string } }).error;
      errors.push(error);
    }
    expect(errors[0]).toEqual(errors[1]);
  }
});

test('who was removed reads nothing any more, and everything again after being added back', async () => {
  expect(await read(member.token)).toEqual(all(200));
  await remove(member, 200);
  await expectNothing(member.token);
  const missed = await send(owner, room, 'while you were away');
  await expectNothing(member.token, room, missed);

  await add(member, 201);
  expect(await read(member.token, room, missed)).toEqual(all(200));
  // What was missed is history, what comes is mail.
  const { body: none } = await t.api.call('readMailbox', { token: member.token, expect: 200 });
  expect(none).toEqual([]);
  const id = await send(owner, room);
  const { body: mail } = await t.api.call('readMailbox', { token: member.token, expect: 200 });
  expect(mail).toMatchObject([{ id }]);
});

test('who left reads nothing any more, by no token, and may be added again', async () => {
  const reader = await openToken(t, member, { scopes: ['read'], roomIds: [room] });
  await remove(member, 200, member);
  for (const token of [member.token, reader]) await expectNothing(token);
  await add(member, 201);
  expect(await read(reader)).toEqual(all(200));
});

test('nobody who was never a member, or is one no longer, can be removed', async () => {
  await remove(stranger, 404);
  await remove(member, 200);
  await remove(member, 404);
  for (const address of ['1234567897', '@nobody-here', randomUUID()]) {
    const params = { room, identity: address };
    await t.api.call('removeMember', { token: owner.token, params, expect: 404 });
  }
  // Not even the stranger itself, who does not see the room.
  await remove(stranger, 404, stranger);
  const members = await t.api.call('listMembers', {
    token: owner.token,
    params: { room },
    expect: 200,
  });
  expect(members.body.map(({ id }) => id)).toEqual([owner.id]);
});

test('parallel removals and additions of one member end in a state that its reads agree with', async () => {
  const call = (method: string) =>
    t.api.raw(method, `/v1/rooms/${room}/members/${member.id}`, { token: owner.token });
  const verbs = ['DELETE', 'PUT', 'DELETE', 'PUT', 'DELETE', 'PUT'];
  for (const { status } of await Promise.all(verbs.map(call)))
    expect([200, 201, 404]).toContain(status);
  const token = owner.token;
  const { body } = await t.api.call('listMembers', { token, params: { room }, expect: 200 });
  const joined = body.some(({ id }) => id === member.id);
  expect(await read(member.token)).toEqual(all(joined ? 200 : 404));
});

test('a block hides the direct conversation from both and leaves a common group to them', async () => {
  await t.befriend(owner, member);
  const body = { target: member.id };
  const dm = (await t.api.call('openDm', { token: owner.token, body, expect: 201 })).body.id;
  const id = await send(owner, dm);
  expect(await read(member.token, dm, id)).toEqual(all(200));
  await act(member, 'block', owner);
  for (const { token } of [owner, member]) {
    await expectNothing(token, dm, id);
    expect(await read(token)).toEqual(all(200));
  }
  await act(member, 'unblock', owner);
  // Without friendship it can be read but not be written to.
  for (const { token } of [owner, member]) expect(await read(token, dm, id)).toEqual(all(200));
});

test('a token with a list of rooms reads those of them that its owner is in, an empty list none', async () => {
  const other = await group();
  const elsewhere = await send(owner, other);
  const foreign = await group(stranger);
  const hidden = await send(stranger, foreign);

  const token = await openToken(t, owner, { roomIds: [room, foreign] });
  expect(await read(token)).toEqual(all(200));
  await expectNothing(token, other, elsewhere);
  await expectNothing(token, foreign, hidden);
  const none = await openToken(t, owner, { roomIds: [] });
  await expectNothing(none);
  await expectNothing(none, other, elsewhere);
  expect(await read(owner.token, other, elsewhere)).toEqual(all(200));
});

test('an administrator has no way around membership, with no scope', async () => {
  const admin = await registerHuman(t);
  await t.database.pool.query(`UPDATE identities SET role = 'admin' WHERE id = $1`, [admin.id]);
  await expectNothing(await openToken(t, admin, { scopes: ['read', 'admin'] }));
  const token = await openToken(t, admin, { scopes: ['*'] });
  await expectNothing(token);
  const params = { room, identity: admin.number };
  await t.api.call('sendMessage', { token, params, body: textMessage('hi'), expect: 404 });
  await t.api.call('addMember', { token, params, expect: 404 });
  await t.api.call('removeMember', { token, params, expect: 404 });
  await add(admin, 201);
  expect(await read(token)).toEqual(all(200));
});

test('a message of another room is not found under the own one, and the reverse', async () => {
  const other = await group(stranger);
  const foreign = await send(stranger, other);
  for (const name of ['getMessage', 'getThread'] as const) {
    const { token } = owner;
    await t.api.call(name, { token, params: { room, id: foreign }, expect: 404 });
    await t.api.call(name, { token, params: { room: other, id: message }, expect: 404 });
    await t.api.call(name, { token, params: { room: other, id: foreign }, expect: 404 });
    await t.api.call(name, { token, params: { room, id: message }, expect: 200 });
  }
});
