import { randomUUID } from 'node:crypto';
import {
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import type { Message, SendMessage } from '@relayger/protocol';
import { sealedPayload } from './sealed.js';
import { crowd, group, mailbox, reason, send, tokenFor, wholeHistory } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = (await crowd(t, 2)) as [TestAgent, TestAgent];
  room = await group(t, alice, bob);
});
afterAll(() => t.close());

async function get({ token }: Pick<TestAgent, 'token'>, id: string): Promise<Message> {
  return (await t.api.call('getMessage', { token, params: { room, id }, expect: 200 })).body;
}
async function missing({ token }: Pick<TestAgent, 'token'>, id: string, where = room) {
  const params = { room: where, id };
  const { body } = await t.api.call('getMessage', { token, params, expect: 404 });
  expect(body.error.code).toBe('not_found');
}

test('a message is the same by its id as in its reply and in the history, to everybody in the room', async () => {
  const anna = await registerHuman(t);
  const params = { room, identity: anna.id };
  await t.api.call('addMember', { token: alice.token, params, expect: 201 });
  const { id: replyTo } = await send(t, bob, room, 'a question');
  const drafts: SendMessage[] = [
    textMessage('plain'),
    textMessage('with everything', {
      replyTo,
      mentions: [bob.id, anna.id],
      attention: { kind: 'response', expiresAt: '2026-12-31T23:59:59Z' },
    } as Partial<SendMessage>),
    textMessage('"\\\n\u2028\u0001 <b>😀</b> '.repeat(50)),
    textMessage('', {
      type: 'data',
      payload: { schema: 'a.v1', data: { n: -0.5e-7, deep: [[{}]], __proto__x: null } },
    } as Partial<SendMessage>),
    textMessage('', { type: 'sealed', payload: sealedPayload({ recipients: [bob.id] }) }),
    textMessage('', { type: 'status', payload: { state: 'idle' } } as Partial<SendMessage>),
  ];
  for (const body of drafts) {
    const call = { token: alice.token, params: { room } };
    const sent = await t.api.call('sendMessage', { ...call, body, expect: 201 });
    const message = sent.body as Message;
    for (const who of [alice, bob, anna])
      expect(await get(who, message.messageId)).toEqual(message);
    expect((await wholeHistory(t, bob, room)).at(-1)).toEqual(message);
  }
});

test('reading one moves nothing', async () => {
  const { id } = await send(t, alice, room, 'stays pending');
  await get(bob, id);
  const { items } = await mailbox(t, bob, { limit: 100 });
  expect(items.map((item) => item.id)).toContain(id);
});

test('it needs the read scope', async () => {
  const { id } = await send(t, alice, room);
  const writer = await tokenFor(t, bob, { scopes: ['write', 'rooms'] });
  const params = { room, id };
  const { body } = await t.api.call('getMessage', { token: writer.token, params, expect: 403 });
  expect(body.error).toMatchObject({
    code: 'insufficient_scope',
    details: { required: ['read'] },
  });
  await get(await tokenFor(t, bob, { scopes: ['read'], roomIds: [room] }), id);
});

test('what is not in the room is not found: unknown ids, messages of other rooms, and by their other ids', async () => {
  const elsewhere = await group(t, alice);
  const { id: other } = await send(t, alice, elsewhere);
  const own = await get(alice, (await send(t, alice, room)).id);
  for (const id of [
    randomUUID(),
    '00000000-0000-0000-0000-000000000000',
    other,
    own.clientMessageId,
    own.traceId,
    room,
    alice.id,
  ])
    await missing(alice, id);
  await missing(alice, own.messageId, elsewhere);
  await missing(alice, own.messageId, randomUUID());
  await missing(bob, other, elsewhere);
});

test('who is not in the room, or not with this token, does not find it', async () => {
  const { id } = await send(t, alice, room);
  const [stranger] = (await crowd(t, 1)) as [TestAgent];
  const outside = await group(t, bob);
  await missing(stranger, id);
  await missing(await tokenFor(t, bob, { roomIds: [outside] }), id);
  await missing(await tokenFor(t, bob, { roomIds: [] }), id);
});

test.each([
  ['in capitals', (id: string) => id.toUpperCase()],
  ['without hyphens', (id: string) => id.replaceAll('-', '')],
  ['in braces', (id: string) => `{${id}}`],
  ['with a space', (id: string) => `${id} `],
  ['with NUL', (id: string) => `${id}\u0000`],
  ['cut off', (id: string) => id.slice(1)],
  ['of a sequence', () => '1'],
])('an id %s is invalid_request', async (_name, spoil) => {
  const { token } = alice;
  const { id } = await send(t, alice, room);
  const spoiled = { room, id: spoil(id) };
  const reply = await t.api.call('getMessage', { token, params: spoiled, expect: 400 });
  expect(reason(reply)).toBe('params.id');
  const elsewhere = { room: spoil(room), id };
  const other = await t.api.call('getMessage', { token, params: elsewhere, expect: 400 });
  expect(reason(other)).toBe('params.room');
});

test('a query is refused', async () => {
  const { id } = await send(t, alice, room);
  const path = `/v1/rooms/${room}/messages/${id}?view=receipt`;
  await t.api.raw('GET', path, { token: alice.token, expect: 400 });
});
