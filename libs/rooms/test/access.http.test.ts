import {
  openToken,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';

let t: TestApi;
let me: TestAgent;
let friend: TestAgent;
let mine: string;
let other: string;
let foreign: string;
let dm: string;
beforeAll(async () => {
  t = await startTestApi();
  [me, friend] = (await seedAgents(t, ['me', 'friend'])) as [TestAgent, TestAgent];
  mine = await create(me, 'mine');
  other = await create(me, 'other');
  foreign = await create(friend, 'foreign');
  await t.befriend(me, friend);
  const body = { target: friend.number, message: textMessage('hi') };
  const { body: receipt } = await t.api.call('sendDirect', { token: me.token, body, expect: 201 });
  dm = (receipt as { room: string }).room;
});
afterAll(() => t.close());

async function create(who: TestAgent, name: string): Promise<string> {
  return (await t.api.call('createRoom', { token: who.token, body: { name }, expect: 201 })).body
    .id;
}
async function rooms(token: string): Promise<string[]> {
  const { body } = await t.api.call('listRooms', { token, expect: 200 });
  return body.map(({ id }) => id).sort();
}
const sorted = (...ids: string[]) => ids.sort();

describe('a token limited to rooms', () => {
  test('sees the rooms of its list that its owner is a member of, and no others', async () => {
    expect(await rooms(me.token)).toEqual(sorted(mine, other, dm));
    expect(await rooms(await openToken(t, me, { roomIds: [mine] }))).toEqual([mine]);
    expect(await rooms(await openToken(t, me, { roomIds: [mine, dm] }))).toEqual(sorted(mine, dm));
    expect(await rooms(await openToken(t, me, { roomIds: [foreign] }))).toEqual([]);
  });

  test('sees no room at all when its list is empty', async () => {
    const token = await openToken(t, me, { roomIds: [] });
    expect(await rooms(token)).toEqual([]);
    const { body } = await t.api.call('getMe', { token, expect: 200 });
    expect(body.roomIds).toEqual([]);
    const mail = await t.api.call('readMailbox', { token, expect: 200 });
    expect(mail.body).toEqual([]);
  });

  test('finds the other rooms of its owner as little as rooms that do not exist', async () => {
    const token = await openToken(t, me, { roomIds: [mine] });
    for (const room of [other, dm, foreign]) {
      const params = { room };
      const body = textMessage('hi');
      await t.api.call('listMessages', { token, params, expect: 404 });
      await t.api.call('sendMessage', { token, params, body, expect: 404 });
      await t.api.call('ackRoom', { token, params, body: { sequence: '0' }, expect: 404 });
      const identity = friend.number;
      await t.api.call('addMember', { token, params: { room, identity }, expect: 404 });
    }
    const body = textMessage('hi');
    await t.api.call('sendMessage', { token, params: { room: mine }, body, expect: 201 });
  });

  test('creates neither rooms nor direct conversations', async () => {
    const token = await openToken(t, me, { roomIds: [mine] });
    const body = { name: 'new' };
    const refused = await t.api.call('createRoom', { token, body, expect: 403 });
    expect(refused.body.error.code).toBe('room_restricted_token');

    const [stranger] = (await seedAgents(t, ['new-friend'])) as [TestAgent];
    await t.befriend(me, stranger);
    const message = { target: stranger.number, message: textMessage('hi') };
    const direct = await t.api.call('sendDirect', { token, body: message, expect: 403 });
    expect(direct.body.error.code).toBe('room_restricted_token');
    expect(await rooms(stranger.token)).toEqual([]);
  });

  test('sees its room no longer than its owner is let in', async () => {
    const guest = (await seedAgents(t, ['guest']))[0] as TestAgent;
    const token = await openToken(t, guest, { roomIds: [foreign] });
    expect(await rooms(token)).toEqual([]);
    const params = { room: foreign, identity: guest.number };
    await t.api.call('addMember', { token: friend.token, params, expect: 201 });
    expect(await rooms(token)).toEqual([foreign]);
    // The same person's room, but not on the list.
    await create(guest, 'private');
    expect(await rooms(token)).toEqual([foreign]);
  });
});

describe('a direct conversation', () => {
  async function act(who: TestAgent, verb: 'block' | 'unblock' | 'remove', whom: TestAgent) {
    const params = { address: whom.number };
    await t.api.call(`${verb}Contact`, { token: who.token, params, body: {}, expect: 200 });
  }
  async function send(who: TestAgent, room: string, expect: number): Promise<string | undefined> {
    const path = `/v1/rooms/${room}/messages`;
    const { body } = await t.api.raw('POST', path, {
      token: who.token,
      body: textMessage('x'),
      expect,
    });
    return (body as { error?: { code: string } }).error?.code;
  }

  test('names the other side as peer, to each of the two', async () => {
    const seen = async (who: TestAgent) =>
      (await t.api.call('listRooms', { token: who.token, expect: 200 })).body.find(
        ({ id }) => id === dm,
      );
    const common = { kind: 'dm', name: null, ownerId: null, members: 2, sequence: '1' };
    const peer = ({ id, number, handle }: TestAgent) => ({ id, number, handle });
    expect(await seen(me)).toMatchObject({ ...common, peer: peer(friend), unread: 0 });
    expect(await seen(friend)).toMatchObject({ ...common, peer: peer(me), unread: 1 });
  });

  test('closes when the friendship ends, opens with a new one, and is the same room', async () => {
    const [a, b] = (await seedAgents(t, ['on', 'off'])) as [TestAgent, TestAgent];
    await t.befriend(a, b);
    const direct = () => ({ target: b.number, message: textMessage('hi') });
    const sent = await t.api.call('sendDirect', { token: a.token, body: direct(), expect: 201 });
    const { room } = sent.body as { room: string };

    await act(b, 'remove', a);
    expect(await send(a, room, 403)).toBe('contact_required');
    expect(await send(b, room, 403)).toBe('contact_required');
    expect(await rooms(a.token)).toEqual([room]);

    await act(b, 'block', a);
    expect(await send(a, room, 403)).toBe('contact_unavailable');
    for (const who of [a, b]) {
      expect(await rooms(who.token)).toEqual([]);
      await t.api.call('listMessages', { token: who.token, params: { room }, expect: 404 });
    }

    await act(b, 'unblock', a);
    expect(await rooms(a.token)).toEqual([room]);
    expect(await send(a, room, 403)).toBe('contact_required');

    await t.befriend(b, a);
    const again = await t.api.call('sendDirect', { token: a.token, body: direct(), expect: 201 });
    expect(again.body).toMatchObject({ room, seq: '2' });
  });
});
