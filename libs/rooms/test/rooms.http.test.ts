import {
  openToken,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import type { Receipt } from '@relayger/protocol';

let t: TestApi;
let owner: TestAgent;
let member: TestAgent;
let outsider: TestAgent;
beforeAll(async () => {
  t = await startTestApi();
  [owner, member, outsider] = (await seedAgents(t, ['owner', 'member', 'outsider'])) as [
    TestAgent,
    TestAgent,
    TestAgent,
  ];
});
afterAll(() => t.close());

async function create(name: string, by = owner) {
  return (await t.api.call('createRoom', { token: by.token, body: { name }, expect: 201 })).body;
}
async function group(name: string, ...members: TestAgent[]) {
  const room = await create(name);
  for (const { number } of members) {
    const params = { room: room.id, identity: number };
    await t.api.call('addMember', { token: owner.token, params, expect: 201 });
  }
  return room;
}
async function list(who: TestAgent | string) {
  const token = typeof who === 'string' ? who : who.token;
  return (await t.api.call('listRooms', { token, expect: 200 })).body;
}
async function view(who: TestAgent, room: string) {
  return (await list(who)).find(({ id }) => id === room);
}
/** Answers the sequence of what was sent. */
async function send(who: TestAgent, room: string, message = textMessage('hello')) {
  const call = { token: who.token, params: { room }, query: { view: 'receipt' } } as const;
  const { body } = await t.api.call('sendMessage', { ...call, body: message, expect: 201 });
  return (body as Receipt).seq;
}

test('a new group belongs to its creator alone and starts at sequence 0', async () => {
  const before = Date.now();
  const room = await create('general');
  expect(room).toEqual({
    id: expect.any(String),
    kind: 'group',
    name: 'general',
    ownerId: owner.id,
    createdAt: expect.any(String),
    sequence: '0',
    deliveredSequence: '0',
    unread: 0,
    members: 1,
  });
  expect(Math.abs(Date.parse(room.createdAt) - before)).toBeLessThan(10_000);
  expect(await view(owner, room.id)).toEqual(room);
  expect(await view(outsider, room.id)).toBeUndefined();
});

test.each([
  { what: 'one character', name: '.' },
  { what: '80 bytes', name: 'a'.repeat(80) },
  { what: '80 bytes of emoji', name: '😀'.repeat(20) },
  { what: 'another script', name: 'اتاق گزارش‌ها' },
  { what: 'markup', name: `<img src=x onerror="x()"> '; DROP TABLE rooms; --` },
  { what: 'spaces around', name: '  general  ' },
])('a name of $what is kept as it is', async ({ name }) => {
  expect((await view(owner, (await create(name)).id))?.name).toBe(name);
});

test.each([
  { what: 'is empty', name: '' },
  { what: 'has 81 bytes', name: 'a'.repeat(81) },
  { what: 'has 84 bytes in 21 characters', name: '😀'.repeat(21) },
  { what: 'has two lines', name: 'a\nb' },
  { what: 'has a carriage return', name: 'a\rb' },
  { what: 'has a tab', name: 'a\tb' },
  { what: 'has an escape character', name: 'a\u001bb' },
  { what: 'has NUL', name: 'a\u0000b' },
  { what: 'has half of a surrogate pair', name: 'a\udc00b' },
  { what: 'has a paragraph separator', name: 'a\u2029b' },
  { what: 'is missing', name: undefined },
  { what: 'is null', name: null },
  { what: 'is a number', name: 5 },
  { what: 'is a list', name: ['a'] },
])('no room is created when the name $what', async ({ name }) => {
  const before = (await list(owner)).length;
  const { body } = await t.api.call('createRoom', {
    token: owner.token,
    body: { name },
    expect: 400,
  });
  expect(body.error).toMatchObject({
    code: 'invalid_request',
    details: { issues: [{ path: 'body.name' }] },
  });
  expect(await list(owner)).toHaveLength(before);
});

test.each(['kind', 'ownerId', 'id', 'members', 'Name'])(
  'the field %s cannot be set when a room is created',
  async (field) => {
    const body = { name: 'general', [field]: owner.id };
    const reply = await t.api.call('createRoom', { token: owner.token, body, expect: 400 });
    expect(reply.body.error.details?.issues).toEqual([
      { path: 'body', message: `has unknown field "${field}"` },
    ]);
  },
);

test('two groups may share a name, and the newest comes first', async () => {
  const [first, second] = [await create('twin'), await create('twin')];
  const ids = (await list(owner)).map(({ id }) => id);
  expect(ids.indexOf(second.id)).toBeLessThan(ids.indexOf(first.id));
});

test('creating needs the rooms scope, listing the read scope', async () => {
  const reader = await openToken(t, owner, { scopes: ['read'] });
  const body = { name: 'x' };
  const refused = await t.api.call('createRoom', { token: reader, body, expect: 403 });
  expect(refused.body.error).toMatchObject({
    code: 'insufficient_scope',
    details: { required: ['rooms'] },
  });
  await list(reader);
  const maker = await openToken(t, owner, { scopes: ['rooms'] });
  await t.api.call('createRoom', { token: maker, body, expect: 201 });
  await t.api.call('listRooms', { token: maker, expect: 403 });
});

test('own messages move the own cursor along, those of others wait behind it', async () => {
  const room = await group('cursors', member);
  const cursor = async (who: TestAgent) => {
    const { sequence, deliveredSequence, unread } = (await view(who, room.id)) ?? {};
    return [sequence, deliveredSequence, unread];
  };
  await send(owner, room.id);
  await send(owner, room.id);
  expect(await cursor(owner)).toEqual(['2', '2', 0]);
  expect(await cursor(member)).toEqual(['2', '0', 2]);

  await send(member, room.id);
  expect(await cursor(owner)).toEqual(['3', '2', 1]);
  // What a member says itself does not mark delivered what it has not fetched.
  expect(await cursor(member)).toEqual(['3', '0', 2]);

  const ack = { token: member.token, params: { room: room.id } } as const;
  await t.api.call('ackRoom', { ...ack, body: { sequence: '1' }, expect: 200 });
  expect(await cursor(member)).toEqual(['3', '1', 1]);
  const passed = await t.api.call('ackRoom', { ...ack, body: { sequence: '2' }, expect: 200 });
  expect(passed.body).toEqual({ deliveredSequence: '3' });
  expect(await cursor(member)).toEqual(['3', '3', 0]);
  // Never backwards, never past the newest.
  await t.api.call('ackRoom', { ...ack, body: { sequence: '0' }, expect: 200 });
  await t.api.call('ackRoom', { ...ack, body: { sequence: '4' }, expect: 400 });
  expect(await cursor(member)).toEqual(['3', '3', 0]);
});

test('a status is nothing unread, and consuming brings the cursor to the end', async () => {
  const room = await group('statuses', member);
  const status = {
    ...textMessage(''),
    type: 'status' as const,
    payload: { state: 'working' as const },
  };
  await send(owner, room.id, status);
  expect(await view(member, room.id)).toMatchObject({
    sequence: '1',
    deliveredSequence: '1',
    unread: 0,
  });
  await send(owner, room.id);
  await send(owner, room.id, { ...status, clientMessageId: room.id });
  expect(await view(member, room.id)).toMatchObject({
    sequence: '3',
    deliveredSequence: '1',
    unread: 1,
  });
  await t.api.call('readMailbox', { token: member.token, query: { consume: '1' }, expect: 200 });
  expect(await view(member, room.id)).toMatchObject({
    sequence: '3',
    deliveredSequence: '3',
    unread: 0,
  });
});

test('sequences beyond 2^53 stay exact', async () => {
  const room = await group('long-lived', member);
  await t.database.pool.query('UPDATE rooms SET last_seq = 9007199254740992 WHERE id = $1', [
    room.id,
  ]);
  await t.database.pool.query(
    'UPDATE memberships SET delivered_seq = 9007199254740992 WHERE room_id = $1',
    [room.id],
  );
  expect(await send(owner, room.id)).toBe('9007199254740993');
  expect(await send(owner, room.id)).toBe('9007199254740994');
  const numbers = {
    sequence: '9007199254740994',
    deliveredSequence: '9007199254740992',
    unread: 2,
  };
  expect(await view(member, room.id)).toMatchObject(numbers);
  await t.api.call('ackRoom', {
    token: member.token,
    params: { room: room.id },
    body: { sequence: '9007199254740993' },
    expect: 200,
  });
  expect(await view(member, room.id)).toMatchObject({
    deliveredSequence: '9007199254740993',
    unread: 1,
  });
});

test('unread messages are counted up to 1000', async () => {
  const room = await group('busy', member);
  await t.database.pool.query(
    `INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, trace_id)
     SELECT $1, n, gen_random_uuid(), $2, gen_random_uuid(), '', 'text', '{"text":"x"}', gen_random_uuid()
     FROM generate_series(1, 1001) AS n`,
    [room.id, owner.id],
  );
  await t.database.pool.query('UPDATE rooms SET last_seq = 1001 WHERE id = $1', [room.id]);
  expect(await view(member, room.id)).toMatchObject({
    sequence: '1001',
    deliveredSequence: '0',
    unread: 1000,
  });
});
