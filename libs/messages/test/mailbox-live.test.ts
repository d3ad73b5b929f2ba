import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { crowd, drain, group, mailbox, roomOf, send, seqs } from './support.js';

// What is never pending lies behind a cursor in any number: a room in which others only report their state. Reads move
// the cursor past long runs of it, which nobody may notice.

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = (await crowd(t, 2)) as [TestAgent, TestAgent];
});
afterAll(() => t.close());

/** Many messages of one sender and type, written as the append would. */
async function flood(room: string, { id }: TestAgent, type: string, count: number): Promise<void> {
  await t.database.pool.query(
    `WITH room AS (UPDATE rooms SET last_seq = last_seq + $4 WHERE id = $1 RETURNING last_seq - $4 AS base)
     INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, trace_id)
     SELECT $1, base + n, uuidv7(), $2, gen_random_uuid(), sha256('m'), $3,
       CASE $3 WHEN 'text' THEN '{"text":"flood"}'::json ELSE '{"state":"idle"}' END, gen_random_uuid()
     FROM room, generate_series(1, $4) AS n`,
    [room, id, type, count],
  );
}

/** The cursor as it is stored. */
async function stored(room: string, { id }: TestAgent): Promise<number> {
  const { rows } = await t.database.pool.query(
    'SELECT delivered_seq FROM memberships WHERE room_id = $1 AND identity_id = $2',
    [room, id],
  );
  return Number(rows[0].delivered_seq);
}

test('a read passes many live events once, and what comes after them is delivered', async () => {
  const room = await group(t, alice, bob);
  await flood(room, alice, 'status', 2_000);
  const before = await roomOf(t, bob, room);
  expect(before).toMatchObject({ sequence: '2000', deliveredSequence: '2000', unread: 0 });
  expect((await mailbox(t, bob)).items).toEqual([]);
  expect(await stored(room, bob)).toBe(2_000);
  expect(await roomOf(t, bob, room)).toEqual(before);

  await send(t, alice, room, 'after the events');
  const { items } = await mailbox(t, bob);
  expect(seqs(items)).toEqual([2_001]);
  expect(seqs(await drain(t, bob))).toEqual([2_001]);
});

test('a few live events move nothing', async () => {
  const room = await group(t, alice, bob);
  await flood(room, alice, 'progress', 100);
  await mailbox(t, bob);
  expect(await stored(room, bob)).toBe(0);
});

test('a read stops before the first message that is pending, whatever lies behind it', async () => {
  const room = await group(t, alice, bob);
  await flood(room, alice, 'status', 500);
  await flood(room, alice, 'text', 3);
  await flood(room, alice, 'status', 500);
  const pending = async () =>
    seqs((await mailbox(t, bob)).items.filter((item) => item.room === room));
  expect(await pending()).toEqual([501, 502, 503]);
  expect(await stored(room, bob)).toBe(500);
  expect(await pending()).toEqual([501, 502, 503]);
  expect(await roomOf(t, bob, room)).toMatchObject({ deliveredSequence: '500', unread: 3 });

  const consumed = await mailbox(t, bob, { consume: '1', limit: 1 });
  expect(consumed.items).toHaveLength(1);
  await drain(t, bob);
  expect(await stored(room, bob)).toBe(1_003);
});

test('own messages are passed as well', async () => {
  const room = await group(t, alice, bob);
  await flood(room, bob, 'text', 600);
  expect((await mailbox(t, bob)).items.filter((item) => item.room === room)).toEqual([]);
  expect(await stored(room, bob)).toBe(600);
  expect(await stored(room, alice)).toBe(0);
});

test('two readers at once and a sender: nothing is passed that is pending', async () => {
  const room = await group(t, alice, bob);
  await drain(t, bob);
  for (const n of [1, 2, 3, 4, 5]) {
    await flood(room, alice, 'status', 400);
    const [sent] = await Promise.all([
      send(t, alice, room, `between ${n}`),
      mailbox(t, bob),
      mailbox(t, bob, { wait: 1 }),
    ]);
    expect(seqs(await drain(t, bob))).toEqual([Number(sent.seq)]);
  }
});
