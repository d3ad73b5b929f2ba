import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { SendMessage } from '@relayger/protocol';
import {
  ack,
  drain,
  group,
  join,
  mailbox,
  reason,
  roomOf,
  send,
  seqs,
  tokenFor,
  upTo,
} from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
});
afterAll(() => t.close());
afterEach(async () => {
  await Promise.all([drain(t, alice), drain(t, bob)]);
});

const status = () =>
  ({ ...textMessage(''), type: 'status', payload: { state: 'idle' } }) as SendMessage;

/** A room in which the named have spoken in this order; a small letter sends a status. */
async function spoken(script: string): Promise<string> {
  const room = await group(t, alice, bob);
  for (const letter of script) {
    const who = letter.toLowerCase() === 'a' ? alice : bob;
    await send(t, who, room, letter === letter.toLowerCase() ? status() : letter);
  }
  return room;
}

const pending = async (who: TestAgent, room: string, limit = 100) =>
  seqs((await mailbox(t, who, { limit })).items.filter((item) => item.room === room));

const delivered = async (who: TestAgent, room: string) =>
  Number((await roomOf(t, who, room)).deliveredSequence);

test('20 by default, 100 at most, nothing else than documented', async () => {
  const room = await spoken('B'.repeat(103));
  expect(seqs((await mailbox(t, alice)).items)).toEqual(upTo(20));
  expect(seqs((await mailbox(t, alice, { limit: 100 })).items)).toEqual(upTo(100));
  expect(await roomOf(t, alice, room)).toMatchObject({ unread: 103 });
  const { token } = alice;
  for (const query of [
    { limit: 0 },
    { limit: 101 },
    { wait: 56 },
    { wait: -1 },
    { consume: 'true' },
    { after: '1' },
  ]) {
    await t.api.call('readMailbox', { token, query, expect: 400 });
  }
});

test('reading moves nothing', async () => {
  const room = await spoken('BBB');
  const first = await mailbox(t, alice);
  expect((await mailbox(t, alice)).items).toEqual(first.items);
  expect(await delivered(alice, room)).toBe(0);
});

test('pages of a long absence come oldest first, each once, until nothing is left', async () => {
  const room = await spoken('B'.repeat(45));
  const pages = [];
  for (let page = await next(); page.length > 0; page = await next()) pages.push(page);
  expect(pages).toEqual([upTo(20), upTo(20).map((n) => n + 20), [41, 42, 43, 44, 45]]);
  expect(await delivered(alice, room)).toBe(45);
  async function next() {
    return seqs((await mailbox(t, alice, { consume: '1' })).items);
  }
});

test('what one room gives to a page is the beginning of what waits there, and no room starves', async () => {
  const rooms = [];
  for (const n of upTo(7)) rooms.push(await spoken('B'.repeat(n * 3)));
  const received = new Map(rooms.map((room): [string, number[]] => [room, []]));
  for (const limit of [1, 3, 8, 20, 5, 100]) {
    const { items } = await mailbox(t, alice, { limit, consume: '1' });
    const waiting = rooms.filter((room, i) => received.get(room)?.length !== (i + 1) * 3).length;
    if (limit >= 8) {
      const served = new Set(items.map(({ room }) => room)).size;
      expect(served).toBe(Math.min(waiting, limit));
    }
    for (const { room, seq } of items) received.get(room)?.push(Number(seq));
    // Nothing is skipped, whatever the size of the page: each room is always at a prefix.
    for (const seen of received.values()) expect(seen).toEqual(upTo(seen.length));
  }
  expect([...received.values()]).toEqual(rooms.map((_, i) => upTo((i + 1) * 3)));
});

test.each([
  ['own messages', 'AAA', []],
  ['status of others', 'bbB', [3]],
  ['own status', 'aBa', [2]],
])('never pending: %s', async (_name, script, expected) => {
  const room = await spoken(script);
  expect(await pending(alice, room)).toEqual(expected);
});

test.each([
  // What was said, and how far alice's cursor is without her having read anything.
  ['own messages move it along', 'AAA', 3],
  ['a status of others is passed', 'bA', 2],
  ['it stops before what waits', 'ABA', 1],
  ['and stays there', 'BAAA', 0],
  ['a message that nothing follows', 'AB', 1],
  ['a status behind own messages counts as handled', 'AAb', 3],
])('the cursor of a sender: %s', async (_name, script, expected) => {
  const room = await spoken(script);
  expect(await delivered(alice, room)).toBe(expected);
});

test.each([
  ['what was returned', 'BBB', 2, 2],
  ['own messages and status that follow', 'BBAbaB', 2, 5],
  ['everything when nothing else waits', 'BAab', 20, 4],
  ['what lies between', 'BAB', 20, 3],
])('consume passes %s', async (_name, script, limit, expected) => {
  const room = await spoken(script);
  await mailbox(t, alice, { limit, consume: '1' });
  const { rows } = await t.database.pool.query(
    'SELECT delivered_seq FROM memberships WHERE room_id = $1 AND identity_id = $2',
    [room, alice.id],
  );
  expect(rows).toEqual([{ delivered_seq: String(expected) }]);
});

test('an acknowledgement raises the cursor, passes own and live events, and never lowers it', async () => {
  const room = await spoken('BBBAbBB');
  expect(await ack(t, alice, room, '0')).toBe('0');
  expect(await ack(t, alice, room, '2')).toBe('2');
  expect(await pending(alice, room)).toEqual([3, 6, 7]);
  expect(await ack(t, alice, room, '1')).toBe('2');
  expect(await ack(t, alice, room, '3')).toBe('5');
  expect(await ack(t, alice, room, '3')).toBe('5');
  expect(await pending(alice, room)).toEqual([6, 7]);
  expect(await ack(t, alice, room, '7')).toBe('7');
  expect(await pending(alice, room)).toEqual([]);
  // Of exactly what was received: what comes later stays pending.
  await send(t, bob, room);
  await ack(t, alice, room, '7');
  expect(await pending(alice, room)).toEqual([8]);
});

test('acknowledgements that are refused change nothing', async () => {
  const room = await spoken('BBB');
  const { token } = alice;
  const refused = async (body: unknown, status: number, of = token, where = room) => {
    const options = { token: of, params: { room: where }, body, expect: status as 400 };
    return reason(await t.api.call('ackRoom', options));
  };
  expect(await refused({ sequence: '4' }, 400)).toBe('body.sequence');
  expect(await refused({ sequence: '9223372036854775807' }, 400)).toBe('body.sequence');
  expect(await refused({ sequence: 3 }, 400)).toBe('body.sequence');
  expect(await refused({ sequence: '-1' }, 400)).toBe('body.sequence');
  expect(await refused({}, 400)).toBe('body.sequence');
  expect(await refused({ sequence: '3', seen: true }, 403)).toBe('human_only');
  expect(await refused({ sequence: '3' }, 404, token, randomUUID())).toBe('not_found');
  const carol = await t.agent();
  expect(await refused({ sequence: '3' }, 404, carol.token)).toBe('not_found');
  const reader = await tokenFor(t, alice, { scopes: ['read'] });
  expect(await refused({ sequence: '3' }, 403, reader.token)).toBe('insufficient_scope');
  const elsewhere = await tokenFor(t, alice, { roomIds: [] });
  expect(await refused({ sequence: '3' }, 404, elsewhere.token)).toBe('not_found');
  expect(await pending(alice, room)).toEqual([1, 2, 3]);
  const options = { token, params: { room }, body: { sequence: '1', seen: false } };
  await t.api.call('ackRoom', { ...options, expect: 200 });
  expect(await pending(alice, room)).toEqual([2, 3]);
});

test('two tokens of one identity share the cursor', async () => {
  const room = await spoken('BBB');
  const second = await tokenFor(t, alice);
  await mailbox(t, alice, { limit: 2, consume: '1' });
  expect(await pending(second, room)).toEqual([3]);
  await ack(t, second, room, '3');
  expect((await mailbox(t, alice)).items).toEqual([]);
});

test('a token that is limited to rooms sees and consumes only these', async () => {
  const [room, other] = [await spoken('BB'), await spoken('B')];
  const limited = await tokenFor(t, alice, { roomIds: [room] });
  expect((await drain(t, limited)).map((item) => item.room)).toEqual([room, room]);
  expect(await pending(alice, other)).toEqual([1]);
  expect((await mailbox(t, await tokenFor(t, alice, { roomIds: [] }))).items).toEqual([]);
});

test('consume needs the write scope; without it nothing moves', async () => {
  const room = await spoken('B');
  const { token } = await tokenFor(t, alice, { scopes: ['read'] });
  const query = { consume: '1' };
  const reply = await t.api.call('readMailbox', { token, query, expect: 403 });
  expect(reply.body.error.details).toEqual({ required: ['write'] });
  await t.api.call('readMailbox', { token, query: { consume: '0' }, expect: 200 });
  expect(await pending(alice, room)).toEqual([1]);
});

test('what was said before somebody joined is history, not mail', async () => {
  const room = await spoken('ABB');
  const carol = await t.agent();
  await join(t, alice, room, carol);
  await send(t, bob, room);
  expect(seqs((await mailbox(t, carol)).items)).toEqual([4]);
});
