import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import {
  ack,
  group,
  join,
  mailbox,
  reason,
  roomOf,
  send,
  tokenFor,
  upTo,
  wholeHistory,
} from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
  room = await group(t, alice, bob);
  for (const n of upTo(120)) await send(t, n % 2 ? alice : bob, room, `message ${n}`);
});
afterAll(() => t.close());

interface Page {
  after?: string;
  before?: string;
  limit?: number;
}

async function page(query: Page, who = bob, where = room): Promise<number[]> {
  const options = { token: who.token, params: { room: where }, query, expect: 200 as const };
  const { body } = await t.api.call('listMessages', options);
  return body.map(({ sequence }) => Number(sequence));
}

const range = (from: number, to: number) => upTo(to - from + 1).map((n) => from + n - 1);

test.each<[string, Page, number[]]>([
  ['the newest 50', {}, range(71, 120)],
  ['the newest few', { limit: 3 }, range(118, 120)],
  ['the newest 100', { limit: 100 }, range(21, 120)],
  ['the oldest', { after: '0', limit: 50 }, range(1, 50)],
  ['what follows a cursor', { after: '50', limit: 5 }, range(51, 55)],
  ['the rest', { after: '117' }, range(118, 120)],
  ['nothing above the newest', { after: '120' }, []],
  ['the page below a cursor', { before: '51', limit: 50 }, range(1, 50)],
  ['the last few below a cursor', { before: '51', limit: 3 }, range(48, 50)],
  ['what little there is below', { before: '3' }, [1, 2]],
  ['nothing below the first', { before: '1' }, []],
  ['nothing below zero', { before: '0' }, []],
])('history in ascending order: %s', async (_name, query, expected) => {
  expect(await page(query)).toEqual(expected);
});

test.each([
  ['both cursors', { after: '1', before: '3' }, 'query'],
  ['limit 0', { limit: 0 }, 'query.limit'],
  ['limit 101', { limit: 101 }, 'query.limit'],
  ['a limit that is no number', { limit: 'all' }, 'query.limit'],
  ['a negative cursor', { after: '-1' }, 'query.after'],
  ['an empty cursor', { after: '' }, 'query.after'],
  ['a cursor with leading zeros', { after: '01' }, 'query.after'],
  ['a fraction', { before: '1.5' }, 'query.before'],
  ['a UUID', { before: randomUUID() }, 'query.before'],
  ['a cursor that the room has not reached', { after: '121' }, 'query.after'],
  ['the highest number', { after: '9223372036854775807' }, 'query.after'],
  ['a cursor beyond 64 bits', { after: '9223372036854775808' }, 'query.after'],
  ['NUL', { after: '1\u0000' }, 'query.after'],
  ['an unknown parameter', { since: '1' }, 'query'],
])('refuses %s', async (_name, query, path) => {
  const { token } = bob;
  const reply = await t.api.call('listMessages', { token, params: { room }, query, expect: 400 });
  expect(reason(reply)).toBe(path);
});

test('refuses a room that is no UUID', async () => {
  const { token } = bob;
  for (const where of ['\u0000', 'general', `${room}0`, room.toUpperCase()]) {
    const params = { room: where };
    const reply = await t.api.call('listMessages', { token, params, expect: 400 });
    expect(reason(reply)).toBe('params.room');
  }
});

test('refuses a cursor that is given twice', async () => {
  const { token } = bob;
  const path = `/v1/rooms/${room}/messages?after=1&after=2`;
  await t.api.raw('GET', path, { token, expect: 400 });
});

test('history is for members, within the rooms of their token, and starts before they joined', async () => {
  const carol = await t.agent('carol');
  const outside = await group(t, bob);
  const bobElsewhere = await tokenFor(t, bob, { roomIds: [outside] });
  for (const who of [carol, bobElsewhere]) {
    await t.api.call('listMessages', { token: who.token, params: { room }, expect: 404 });
  }
  const { token } = await tokenFor(t, bob, { roomIds: [room] });
  await t.api.call('listMessages', { token, params: { room }, expect: 200 });

  await join(t, alice, room, carol);
  expect(await page({ limit: 2 }, carol)).toEqual([119, 120]);
  expect((await mailbox(t, carol)).items).toEqual([]);
});

test('reading needs the read scope, sending the write scope', async () => {
  const writer = await tokenFor(t, bob, { scopes: ['write'] });
  const reader = await tokenFor(t, bob, { scopes: ['read'] });
  const missing = await t.api.call('listMessages', {
    token: writer.token,
    params: { room },
    expect: 403,
  });
  expect(missing.body.error).toMatchObject({
    code: 'insufficient_scope',
    details: { required: ['read'] },
  });
  const body = {};
  await t.api.call('sendMessage', { token: reader.token, params: { room }, body, expect: 403 });
});

test('sequences beyond 2^53 stay exact in every place', async () => {
  const far = await group(t, alice, bob);
  // Neighbours from here on are equal once they have been JavaScript numbers.
  const start = 9007199254740993n;
  await t.database.pool.query('UPDATE rooms SET last_seq = $2 WHERE id = $1', [far, start]);
  await t.database.pool.query('UPDATE memberships SET delivered_seq = $2 WHERE room_id = $1', [
    far,
    start,
  ]);
  const sequences = upTo(4).map((n) => String(start + BigInt(n)));
  const sent = [];
  for (const n of sequences.keys()) sent.push(await send(t, alice, far, `far ${n}`));
  expect(sent.map(({ seq }) => seq)).toEqual(sequences);

  const history = await wholeHistory(t, bob, far);
  expect(history.map(({ sequence }) => sequence)).toEqual(sequences);
  const [, second, third] = sequences as [string, string, string, string];
  const options = { token: bob.token, params: { room: far } };
  const above = await t.api.call('listMessages', {
    ...options,
    query: { after: second },
    expect: 200,
  });
  expect(above.body.map(({ sequence }) => sequence)).toEqual(sequences.slice(2));
  const below = await t.api.call('listMessages', {
    ...options,
    query: { before: third, limit: 1 },
    expect: 200,
  });
  expect(below.body.map(({ sequence }) => sequence)).toEqual([second]);

  expect(await ack(t, bob, far, second)).toBe(second);
  const { items } = await mailbox(t, bob);
  const pending = items.filter((item) => item.room === far);
  expect(pending.map(({ id, seq }) => ({ id, seq }))).toEqual(
    sent.slice(2).map(({ id, seq }) => ({ id, seq })),
  );
  expect(await roomOf(t, bob, far)).toMatchObject({
    sequence: sequences[3],
    deliveredSequence: second,
    unread: 2,
  });
  expect(await roomOf(t, alice, far)).toMatchObject({ deliveredSequence: sequences[3] });
});
