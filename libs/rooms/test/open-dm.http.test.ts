import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  disable,
  openToken,
  registerHuman,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import type { Room } from '@relayger/protocol';

let t: TestApi;
let a: TestAgent;
let b: TestAgent;
let serial = 0;
beforeAll(async () => {
  t = await startTestApi();
});
beforeEach(async () => {
  [a, b] = await strangers();
});
afterAll(() => t.close());

async function strangers(): Promise<[TestAgent, TestAgent]> {
  serial++;
  return (await seedAgents(t, [`one-${serial}`, `two-${serial}`])) as [TestAgent, TestAgent];
}
/** The room of a success, the code of a failure. */
async function open<S extends 200 | 201>(
  { token }: Pick<TestAgent, 'token'>,
  target: string,
  expect: S,
): Promise<Room> {
  return (await t.api.call('openDm', { token, body: { target }, expect })).body as Room;
}
async function refused({ token }: Pick<TestAgent, 'token'>, target: unknown, expect: number) {
  const { body } = await t.api.call('openDm', {
    token,
    body: { target },
    expect: expect as 400,
  });
  const [issue] = (body.error.details as { issues?: { path: string }[] })?.issues ?? [];
  return issue?.path ?? body.error.code;
}
async function rooms({ token }: TestAgent): Promise<Room[]> {
  return (await t.api.call('listRooms', { token, expect: 200 })).body;
}
async function act(who: TestAgent, verb: 'block' | 'unblock' | 'remove', whom: TestAgent) {
  const params = { address: whom.number };
  await t.api.call(`${verb}Contact`, { token: who.token, params, body: {}, expect: 200 });
}

test('friends open one conversation, by number, handle and id, and from both sides', async () => {
  await t.befriend(a, b);
  const room = await open(a, b.number, 201);
  expect(room).toEqual({
    id: expect.any(String),
    kind: 'dm',
    name: null,
    ownerId: null,
    createdAt: expect.any(String),
    sequence: '0',
    deliveredSequence: '0',
    unread: 0,
    members: 2,
    peer: { id: b.id, number: b.number, handle: b.handle },
  });
  expect(await rooms(a)).toEqual([room]);
  const spaced = `+${b.number.slice(0, 3)} (${b.number.slice(3, 6)}) ${b.number.slice(6)}`;
  for (const target of [b.number, spaced, `@${b.handle}`, b.handle, b.id])
    expect(await open(a, target, 200)).toEqual(room);
  const mirrored = await open(b, a.number, 200);
  expect(mirrored).toMatchObject({ id: room.id, peer: { id: a.id } });
  expect(await rooms(b)).toEqual([mirrored]);
});

test('the conversation of the first direct message is found again, with what is pending in it', async () => {
  await t.befriend(a, b);
  const body = { target: b.number, message: textMessage('hi') };
  const { body: receipt } = await t.api.call('sendDirect', { token: a.token, body, expect: 201 });
  const { room } = receipt as { room: string };
  expect(await open(b, a.id, 200)).toMatchObject({ id: room, sequence: '1', unread: 1 });
  expect(await open(a, b.id, 200)).toMatchObject({ id: room, sequence: '1', unread: 0 });
});

test('parallel openings from both sides make one conversation, announced as new once', async () => {
  for (let round = 0; round < 5; round++) {
    const [x, y] = await strangers();
    await t.befriend(x, y);
    const replies = await Promise.all(
      [x, y, x, y, x, y, x, y].map(({ token }) =>
        t.api.raw('POST', '/v1/rooms/dm', {
          token,
          body: { target: token === x.token ? y.id : x.id },
        }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 7 }, () => 200),
      201,
    ]);
    expect(new Set(replies.map(({ body }) => (body as Room).id)).size).toBe(1);
    expect(await rooms(x)).toHaveLength(1);
  }
});

test('an opening that races with the first message shares its conversation', async () => {
  for (let round = 0; round < 5; round++) {
    const [x, y] = await strangers();
    await t.befriend(x, y);
    const body = { target: x.id, message: textMessage('hi') };
    const [opened, sent] = await Promise.all([
      t.api.raw('POST', '/v1/rooms/dm', { token: x.token, body: { target: y.id } }),
      t.api.call('sendDirect', { token: y.token, body, expect: 201 }),
    ]);
    expect([200, 201]).toContain(opened.status);
    expect((opened.body as Room).id).toBe((sent.body as { room: string }).room);
  }
});

test('a new conversation ends a mailbox wait of the other side, and an old one does not', async () => {
  await t.befriend(a, b);
  const wait = () => {
    const started = performance.now();
    return t.api
      .call('readMailbox', { token: b.token, query: { wait: 20 }, expect: 200 })
      .then(({ body }) => ({ body, ms: performance.now() - started }));
  };
  const first = wait();
  await sleep(150);
  await open(a, b.number, 201);
  const { body, ms } = await first;
  expect(body).toEqual([]);
  expect(ms).toBeLessThan(10_000);

  const second = wait();
  await sleep(150);
  await open(a, b.number, 200);
  const message = textMessage('now');
  const direct = { target: b.number, message };
  await t.api.call('sendDirect', { token: a.token, body: direct, expect: 201 });
  expect((await second).body).toMatchObject([{ body: { text: 'now' } }]);
});

test('strangers and declined ones need to be friends first, also for a conversation that is there', async () => {
  expect(await refused(a, b.number, 403)).toBe('contact_required');
  const params = { address: b.number };
  await t.api.call('requestContact', { token: a.token, params, body: {}, expect: 200 });
  for (const [who, whom] of [
    [a, b],
    [b, a],
  ] as const)
    expect(await refused(who, whom.number, 403)).toBe('contact_required');
  expect(await rooms(a)).toEqual([]);

  await t.befriend(a, b);
  const { id } = await open(a, b.number, 201);
  await act(b, 'remove', a);
  expect(await refused(a, b.number, 403)).toBe('contact_required');
  expect(await refused(b, a.number, 403)).toBe('contact_required');
  await t.befriend(a, b);
  expect((await open(b, a.number, 200)).id).toBe(id);
});

test('across a block it is refused to both sides, whoever blocked and whether it was there', async () => {
  await act(a, 'block', b);
  expect(await refused(a, b.number, 403)).toBe('contact_unavailable');
  expect(await refused(b, a.number, 403)).toBe('contact_unavailable');

  const [c, d] = await strangers();
  await t.befriend(c, d);
  await open(c, d.number, 201);
  await act(d, 'block', c);
  expect(await refused(c, d.number, 403)).toBe('contact_unavailable');
  expect(await refused(d, c.number, 403)).toBe('contact_unavailable');
  await act(d, 'unblock', c);
  expect(await refused(c, d.number, 403)).toBe('contact_required');
});

test('a block that commits at the same moment hides the conversation or prevents it', async () => {
  for (let round = 0; round < 5; round++) {
    const [x, y] = await strangers();
    await t.befriend(x, y);
    const [opened] = await Promise.all([
      t.api.raw('POST', '/v1/rooms/dm', { token: x.token, body: { target: y.id } }),
      act(y, 'block', x),
    ]);
    expect([201, 403]).toContain(opened.status);
    expect([await rooms(x), await rooms(y)]).toEqual([[], []]);
  }
});

test('people need no friendship among themselves; with an agent they do', async () => {
  const [anna, otto] = await Promise.all([registerHuman(t), registerHuman(t)]);
  const room = await open(anna, otto.number, 201);
  expect(room).toMatchObject({ kind: 'dm', seenSequence: '0', peer: { id: otto.id } });
  expect((await open(otto, anna.number, 200)).id).toBe(room.id);
  expect(await refused(anna, a.number, 403)).toBe('contact_required');
  expect(await refused(a, anna.number, 403)).toBe('contact_required');
});

test('addresses that lead nowhere', async () => {
  const mistyped = b.number.slice(0, 9) + ((Number(b.number[9]) + 1) % 10);
  expect(await refused(a, mistyped, 400)).toBe('invalid_number_check_digit');
  for (const target of ['123', '0123456789', '12345678901'])
    expect(await refused(a, target, 400)).toBe('invalid_number');
  for (const target of [a.number, `@${a.handle}`, a.id])
    expect(await refused(a, target, 400)).toBe('invalid_target');
  for (const target of ['1234567897', '@nobody-here', randomUUID()])
    expect(await refused(a, target, 404)).toBe('not_found');
  for (const target of ['', 'Nobody!', 'a'.repeat(500), '\u0000', null, 5, [b.id], undefined])
    expect(await refused(a, target, 400)).toBe('body.target');
  await t.befriend(a, b);
  await disable(t, b);
  expect(await refused(a, b.number, 404)).toBe('not_found');
  expect(await rooms(a)).toEqual([]);
});

test('unknown fields are refused', async () => {
  await t.befriend(a, b);
  const body = { target: b.number, name: 'ours' };
  const reply = await t.api.call('openDm', { token: a.token, body, expect: 400 });
  expect(reply.body.error.details?.issues).toEqual([
    { path: 'body', message: 'has unknown field "name"' },
  ]);
});

test('it needs the rooms scope and a token without a list of rooms, also when it is there', async () => {
  await t.befriend(a, b);
  const writer = { token: await openToken(t, a, { scopes: ['read', 'write', 'contacts'] }) };
  const maker = { token: await openToken(t, a, { scopes: ['rooms'] }) };
  expect(await refused(writer, b.number, 403)).toBe('insufficient_scope');
  expect(await refused({ token: await openToken(t, a, { roomIds: [] }) }, b.number, 403)).toBe(
    'room_restricted_token',
  );
  const { id } = await open(maker, b.number, 201);
  expect(await refused(writer, b.number, 403)).toBe('insufficient_scope');
  const limited = { token: await openToken(t, a, { roomIds: [id] }) };
  expect(await refused(limited, b.number, 403)).toBe('room_restricted_token');
});
