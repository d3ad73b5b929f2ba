import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { Receipt } from '@relayger/protocol';
import { correction, draft, messageAt, retraction, revise, seedFiles } from './revising.js';
import { drain, group, mailbox, send, sendRaw, wholeHistory } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
  room = await group(t, alice, bob);
});
afterAll(() => t.close());
afterEach(() => drain(t, bob));

const attention = { kind: 'question' as const, expiresAt: '2027-01-01T00:00:00Z' };

test('a retracted text says so, and has neither attention nor attachments', async () => {
  const attachments = await seedFiles(t, room, bob, 2);
  const { id: replyTo } = await send(t, bob, room);
  const links = { replyTo, mentions: [bob.id] };
  const sent = await send(
    t,
    alice,
    room,
    draft('text', { text: 'a slip', attachments }, { attention, ...links }),
  );
  const before = await messageAt(t, bob, sent);
  const event = await revise(t, alice, sent, retraction());
  const { attention: dropped, ...rest } = before;
  expect(dropped).toEqual(attention);
  expect(await messageAt(t, bob, sent)).toEqual({
    ...rest,
    payload: { text: '[retracted]' },
    revision: { state: 'retracted', count: 0, at: expect.stringMatching(/Z$/) },
  });
  expect((await wholeHistory(t, bob, room)).at(-1)).toMatchObject({
    messageId: event.id,
    type: 'revision',
    replyTo: sent.id,
    payload: { messageId: sent.id, sequence: sent.seq, action: 'retract' },
  });
  expect((await wholeHistory(t, bob, room)).at(-1)?.payload).not.toHaveProperty('payload');
  const { items } = await mailbox(t, bob);
  expect(items.map(({ type, body }) => [type, body])).toEqual([
    ['text', { text: '[retracted]' }],
    ['revision', { messageId: sent.id, sequence: sent.seq, action: 'retract' }],
  ]);
  expect(items[0]).not.toHaveProperty('attention');
});

test('retracted data keeps its schema around an empty object', async () => {
  const payload = { schema: 'order.v1', data: { amount: 1 }, text: 'an order' };
  const sent = await send(t, alice, room, draft('data', payload, { attention }));
  await revise(t, alice, sent, correction({ ...payload, schema: 'order.v2' }));
  await revise(t, alice, sent, retraction());
  const now = await messageAt(t, bob, sent);
  expect(now).toMatchObject({
    payload: { schema: 'order.v2', data: {} },
    revision: { state: 'retracted', count: 1 },
  });
  expect(now.payload).not.toHaveProperty('text');
  expect(now).not.toHaveProperty('attention');
});

/** Every place over HTTP where a message of the room shows, as one text. */
async function everywhere(sent: Receipt): Promise<string> {
  const { token } = bob;
  const event = (await wholeHistory(t, bob, room)).filter(({ type }) => type === 'revision');
  const places = [
    await messageAt(t, bob, sent),
    await wholeHistory(t, bob, room),
    (await mailbox(t, bob, { limit: 100 })).items,
    await Promise.all(event.map(({ messageId: id }) => messageAt(t, bob, { room, id }))),
    (
      await t.api.call('getThread', {
        token,
        params: { room, id: sent.id },
        query: { limit: 100, maxBytes: 65536 },
        expect: 200,
      })
    ).body,
  ];
  return JSON.stringify(places);
}

/** What a search finds for a word, which is what the column has. */
async function found(word: string): Promise<string[]> {
  const query = { q: word };
  const { body } = await t.api.call('searchMessages', { token: bob.token, query, expect: 200 });
  const { rows } = await t.database.pool.query(
    `SELECT id FROM messages WHERE room_id = $1 AND search @@ plainto_tsquery('simple', $2)`,
    [room, word],
  );
  const ids = body.map(({ messageId }) => messageId);
  expect(rows.map(({ id }) => id)).toEqual(ids);
  return ids;
}

/** Rows of the database, of whatever table holds messages, with a word in them. */
async function rowsWith(word: string): Promise<number> {
  const { rows } = await t.database.pool.query(
    `SELECT count(*)::int AS count FROM messages m WHERE m::text ILIKE '%' || $1 || '%'`,
    [word],
  );
  return rows[0].count as number;
}

test.each([
  ['text', (word: string) => ({ text: `hush ${word}` })],
  ['data', (word: string) => ({ schema: 'a', data: { k: word }, text: `hush ${word}` })],
])('what a retracted %s has said is found nowhere any more', async (type, payload) => {
  const words = ['wombat', 'quokka', 'bilby', 'numbat'].map(
    (word) => word + randomUUID().slice(0, 4),
  );
  const [first, ...later] = words as [string, ...string[]];
  const kept = randomUUID();
  const message = draft(type, payload(first), { attention });
  const sent = await send(t, alice, room, message);
  // In a longer thread, beside another message with corrections of its own.
  await send(t, bob, room, textMessage('pardon?', { replyTo: sent.id }));
  const other = await send(t, alice, room, textMessage('spare me', { replyTo: sent.id }));
  for (const word of later) await revise(t, alice, sent, correction(payload(word)));
  await revise(t, alice, other, correction(`spare ${kept}`));
  const before = await everywhere(sent);
  for (const word of later) expect(before).toContain(word);
  expect(await found(words.at(-1) as string)).toEqual([sent.id]);
  expect(await found(first)).toEqual([]);

  await revise(t, alice, sent, retraction());
  const after = await everywhere(sent);
  for (const word of words) {
    expect(after).not.toContain(word);
    expect(await rowsWith(word)).toBe(0);
    expect(await found(word)).toEqual([]);
  }
  // The events stay, as what they are without their content.
  const events = (await wholeHistory(t, bob, room)).filter(
    ({ replyTo, type }) => replyTo === sent.id && type === 'revision',
  );
  const event = { messageId: sent.id, sequence: sent.seq };
  expect(events.map((one) => one.payload)).toEqual([
    ...later.map(() => ({ ...event, action: 'correct' })),
    { ...event, action: 'retract' },
  ]);
  // Nothing else was touched.
  expect(await rowsWith(kept)).toBe(2);
  expect(await messageAt(t, bob, other)).toMatchObject({ revision: { state: 'corrected' } });
  // Neither does a retry of the send bring it back.
  expect((await sendRaw(t, alice, room, message)).status).toBe(200);
  expect(await rowsWith(first)).toBe(0);
});

test('a reply to a message that was retracted stays in its thread', async () => {
  const root = await send(t, alice, room, 'a topic');
  const reply = await send(t, bob, room, textMessage('an answer', { replyTo: root.id }));
  const event = await revise(t, alice, root, retraction());
  const late = await send(t, bob, room, textMessage('too late', { replyTo: root.id }));
  const options = { token: bob.token, params: { room, id: root.id }, query: {} };
  const { body } = await t.api.call('getThread', { ...options, expect: 200 });
  expect(body.root).toMatchObject({ payload: { text: '[retracted]' } });
  expect(body.messages.map(({ messageId }) => messageId)).toEqual([reply.id, event.id, late.id]);
});
