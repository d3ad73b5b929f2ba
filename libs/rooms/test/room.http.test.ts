import {
  openToken,
  registerHuman,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import type { Member, Room, SendMessage } from '@relayger/protocol';

let t: TestApi;
let owner: TestAgent;
let agent: TestAgent;
let human: TestAgent;
let room: string;
let serial = 0;
beforeAll(async () => {
  t = await startTestApi();
  human = await registerHuman(t, { handle: 'm-human' });
});
beforeEach(async () => {
  serial++;
  [owner, agent] = (await seedAgents(t, [`z-owner-${serial}`, `a-agent-${serial}`])) as [
    TestAgent,
    TestAgent,
  ];
  const body = { name: 'lab' };
  room = (await t.api.call('createRoom', { token: owner.token, body, expect: 201 })).body.id;
  for (const { number } of [human, agent]) await add(number);
});
afterAll(() => t.close());

async function add(identity: string): Promise<void> {
  const call = { token: owner.token, params: { room, identity } };
  await t.api.call('addMember', { ...call, expect: 201 });
}
async function get({ token }: Pick<TestAgent, 'token'>, of = room): Promise<Room> {
  return (await t.api.call('getRoom', { token, params: { room: of }, expect: 200 })).body;
}
async function listed({ token }: TestAgent, of = room): Promise<Room | undefined> {
  const { body } = await t.api.call('listRooms', { token, expect: 200 });
  return body.find(({ id }) => id === of);
}
async function members({ token } = owner, of = room): Promise<Member[]> {
  return (await t.api.call('listMembers', { token, params: { room: of }, expect: 200 })).body;
}
async function send({ token }: TestAgent, message = textMessage('hello')): Promise<void> {
  await t.api.call('sendMessage', { token, params: { room }, body: message, expect: 201 });
}
async function ack({ token }: TestAgent, body: { sequence: string; seen?: boolean }) {
  await t.api.call('ackRoom', { token, params: { room }, body, expect: 200 });
}
const status = (): SendMessage =>
  textMessage('', { type: 'status', payload: { state: 'working' } } as Partial<SendMessage>);
/** Where the mailboxes of the room stand: owner, agent, human. */
async function cursors(): Promise<(string | undefined)[]> {
  const all = await members();
  return [owner, agent, human].map(({ id }) => all.find((m) => m.id === id)?.deliveredSequence);
}

describe('one room', () => {
  test('is the same object as in the list, for everybody in it and whatever is pending', async () => {
    await send(owner);
    await send(agent);
    await send(human, status());
    for (const who of [owner, agent, human]) {
      expect(await get(who)).toEqual(await listed(who));
      expect(await get(who)).toMatchObject({ id: room, sequence: '3', members: 3 });
    }
    expect(await get(agent)).toMatchObject({ deliveredSequence: '0', unread: 1 });
    expect(await get(human)).toMatchObject({ deliveredSequence: '0', seenSequence: '0' });
    expect(await get(agent)).not.toHaveProperty('seenSequence');
    await ack(agent, { sequence: '1' });
    expect(await get(agent)).toEqual(await listed(agent));
    expect(await get(agent)).toMatchObject({ deliveredSequence: '3', unread: 0 });
  });

  test('of two has the other side as peer', async () => {
    await t.befriend(owner, agent);
    const body = { target: agent.id };
    const dm = (await t.api.call('openDm', { token: owner.token, body, expect: 201 })).body;
    const { id, number, handle } = owner;
    expect(await get(agent, dm.id)).toEqual({ ...dm, peer: { id, number, handle } });
    expect(await get(agent, dm.id)).toEqual(await listed(agent, dm.id));
  });

  test('needs the read scope', async () => {
    const params = { room };
    const token = await openToken(t, owner, { scopes: ['rooms', 'write'] });
    for (const call of ['getRoom', 'listMembers'] as const) {
      const { body } = await t.api.call(call, { token, params, expect: 403 });
      expect(body.error).toMatchObject({
        code: 'insufficient_scope',
        details: { required: ['read'] },
      });
    }
    expect(await get({ token: await openToken(t, owner, { scopes: ['read'] }) })).toMatchObject({
      id: room,
    });
  });

  test.each(['dm', 'general', '0190B2F4-7C1D-7E3A-9B52-1F6C2D8E4A01', '%00', '1', "'", '..%2f'])(
    'named %s is invalid_request',
    async (name) => {
      for (const path of [`/v1/rooms/${name}`, `/v1/rooms/${name}/members`]) {
        const { body } = await t.api.raw('GET', path, { token: owner.token, expect: 400 });
        expect(body).toMatchObject({
          error: { code: 'invalid_request', details: { issues: [{ path: 'params.room' }] } },
        });
      }
    },
  );
});

describe('the members of a room', () => {
  test('are the owner, then the others by handle, each with its kind and role', async () => {
    const common = { deliveredSequence: '0' };
    const who = ({ id, number, handle }: TestAgent) => ({ id, number, handle });
    const expected = [
      { ...who(owner), kind: 'agent', role: 'owner', ...common },
      { ...who(agent), kind: 'agent', role: 'member', ...common },
      { ...who(human), kind: 'human', role: 'member', ...common, seenSequence: '0' },
    ];
    for (const by of [owner, agent, human]) expect(await members(by)).toEqual(expected);
  });

  test('are sorted by the bytes of their handles', async () => {
    const tail = (n: number) => `b${n}`;
    const handles = [`${tail(serial)}_x`, `${tail(serial)}-x`, `${tail(serial)}x`, tail(serial)];
    for (const { id } of await seedAgents(t, handles)) await add(id);
    const found = (await members()).map(({ handle }) => handle);
    expect(found.filter((handle) => handles.includes(handle))).toEqual(handles.sort());
  });

  test('show how far each mailbox has got: to the end when nothing of others is pending', async () => {
    await send(owner);
    await send(owner);
    expect(await cursors()).toEqual(['2', '0', '0']);
    await ack(agent, { sequence: '1' });
    expect(await cursors()).toEqual(['2', '1', '0']);
    await ack(agent, { sequence: '2' });
    await send(human, status());
    expect(await cursors()).toEqual(['3', '3', '0']);
    await send(agent);
    expect(await cursors()).toEqual(['3', '4', '0']);
    await t.api.call('readMailbox', { token: human.token, query: { consume: '1' }, expect: 200 });
    expect(await cursors()).toEqual(['3', '4', '4']);
    for (const who of [owner, agent, human]) {
      const own = (await members()).find(({ id }) => id === who.id);
      expect(own?.deliveredSequence).toBe((await listed(who))?.deliveredSequence);
    }
  });

  test('show what people have seen, and of agents nothing like it', async () => {
    await send(owner);
    await send(owner);
    await ack(human, { sequence: '1', seen: true });
    const all = await members(agent);
    expect(all.find(({ id }) => id === human.id)).toMatchObject({
      deliveredSequence: '1',
      seenSequence: '1',
    });
    for (const { id } of [owner, agent])
      expect(all.find((m) => m.id === id)).not.toHaveProperty('seenSequence');
  });

  test('change with who is in the room, and who joins late starts at the newest message', async () => {
    await send(owner);
    await t.api.call('leaveRoom', { token: agent.token, params: { room }, body: {}, expect: 200 });
    expect((await members()).map(({ id }) => id)).toEqual([owner.id, human.id]);
    await add(agent.id);
    expect((await members()).find(({ id }) => id === agent.id)).toMatchObject({
      deliveredSequence: '1',
    });
  });

  test('of a direct conversation are the two of it, by handle and without an owner', async () => {
    await t.befriend(owner, agent);
    const body = { target: agent.number };
    const { id } = (await t.api.call('openDm', { token: owner.token, body, expect: 201 })).body;
    for (const by of [owner, agent])
      expect(await members(by, id)).toMatchObject([
        { id: agent.id, role: 'member' },
        { id: owner.id, role: 'member' },
      ]);
  });

  test('have exact cursors beyond 2^53', async () => {
    const { pool } = t.database;
    await pool.query('UPDATE rooms SET last_seq = 9007199254740992 WHERE id = $1', [room]);
    await pool.query('UPDATE memberships SET delivered_seq = $2 WHERE room_id = $1', [
      room,
      '9007199254740992',
    ]);
    await send(owner);
    expect(await cursors()).toEqual(['9007199254740993', '9007199254740992', '9007199254740992']);
  });
});
