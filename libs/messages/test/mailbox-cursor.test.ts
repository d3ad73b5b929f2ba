import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { ApiClient } from '@relayger/kernel/testing';
import { ack, drain, group, mailbox, roomOf, send, seqs, upTo } from './support.js';

// Sending moves the sender's own cursor past messages that it has seen. The one fault that must never happen: that
// it moves past a message of somebody else that was committed at the same moment.

let t: TestApi;
let replica: Awaited<ReturnType<TestApi['replica']>>;
let doors: [{ api: ApiClient }, { api: ApiClient }];
let alice: TestAgent;
let bob: TestAgent;

beforeAll(async () => {
  t = await startTestApi();
  replica = await t.replica();
  doors = [t, replica];
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
});
afterAll(async () => {
  await replica.close();
  await t.close();
});

/** Resolves when so many connections of the database wait for a lock. */
async function waitingForLock(count: number): Promise<void> {
  for (;;) {
    const { rows } = await t.database.pool.query(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (rows[0].waiting >= count) return;
  }
}

test.each([
  ['the foreign message first', 0],
  ['the own message first', 1],
])('sends that wait for the room together, %s', async (_name, first) => {
  for (const _ of upTo(5)) {
    const room = await group(t, alice, bob);
    await send(t, alice, room, 'both have handled this');
    await ack(t, bob, room, '1');

    const lock = await t.database.pool.connect();
    await lock.query('BEGIN');
    await lock.query('SELECT FROM rooms WHERE id = $1 FOR UPDATE', [room]);
    // Both have read the room before the other's message exists, and get in one after the other.
    const order = first === 0 ? [bob, alice] : [alice, bob];
    const sends = [];
    for (const [i, who] of order.entries()) {
      sends.push(send(doors[i as 0 | 1], who, room));
      await waitingForLock(i + 1);
    }
    await lock.query('COMMIT');
    lock.release();
    const [one, two] = await Promise.all(sends);

    const [toAlice, toBob] = first === 0 ? [one, two] : [two, one];
    for (const [who, receipt] of [
      [alice, toAlice],
      [bob, toBob],
    ] as const) {
      const { items } = await mailbox(t, who);
      expect(items.map(({ id }) => id)).toEqual([receipt?.id]);
      await drain(t, who);
    }
  }
});

test('many rounds of both sides sending at the same moment, from a state without pending mail', async () => {
  const rooms = await Promise.all(upTo(8).map(() => group(t, alice, bob)));
  for (const round of upTo(15)) {
    const sent = await Promise.all(
      rooms.flatMap((room, n) => [
        send(doors[0], alice, room, `a${round}`),
        send(doors[1], bob, room, `b${round}`),
        ...(n % 2 ? [send(doors[0], bob, room, `c${round}`)] : []),
      ]),
    );
    const byAlice = sent.filter((_, i) => i % 5 === 0 || i % 5 === 2).map(({ id }) => id);
    const received = { alice: await drain(t, alice), bob: await drain(t, bob) };
    expect(new Set(received.bob.map(({ id }) => id))).toEqual(new Set(byAlice));
    expect(received.alice).toHaveLength(sent.length - byAlice.length);
  }
  for (const room of rooms) {
    const { sequence, deliveredSequence } = await roomOf(t, alice, room);
    expect(deliveredSequence).toBe(sequence);
  }
});

test('consuming while both sides send: everything of the other side comes, in order, once', async () => {
  const room = await group(t, alice, bob);
  const each = 100;
  let sending = 2;
  const sender = async (who: TestAgent, door: { api: ApiClient }) => {
    const sent: string[] = [];
    for (const n of upTo(each)) sent.push((await send(door, who, room, `${n}`)).id);
    sending--;
    return sent;
  };
  const consumer = async (who: TestAgent, door: { api: ApiClient }) => {
    const received: string[] = [];
    for (;;) {
      const done = sending === 0;
      const { items } = await mailbox(door, who, { consume: '1', limit: 7 });
      received.push(...items.map(({ id }) => id));
      if (done && items.length === 0) return received;
    }
  };
  const [ofAlice, ofBob, toAlice, toBob] = await Promise.all([
    sender(alice, doors[0]),
    sender(bob, doors[1]),
    consumer(alice, doors[1]),
    consumer(bob, doors[0]),
  ]);
  expect(toBob).toEqual(ofAlice);
  expect(toAlice).toEqual(ofBob);
});

test('acknowledging while somebody sends passes nothing that came in between', async () => {
  const room = await group(t, alice, bob);
  for (const n of upTo(25)) {
    const { seq } = await send(t, bob, room, `handled ${n}`);
    const [, fresh] = await Promise.all([
      ack(t, alice, room, seq),
      send(doors[n % 2 ? 0 : 1], bob, room, `fresh ${n}`),
    ]);
    const { items } = await mailbox(t, alice);
    expect(seqs(items)).toEqual([Number(fresh.seq)]);
    await drain(t, alice);
  }
});

test('one identity that consumes through two clients at once gets every message at least once', async () => {
  const room = await group(t, alice, bob);
  const sent: string[] = [];
  const received = new Set<string>();
  let done = false;
  const client = async (door: { api: ApiClient }) => {
    for (;;) {
      const last = done;
      const { items } = await mailbox(door, alice, { consume: '1', limit: 5 });
      const page = seqs(items);
      expect(page).toEqual([...page].sort((a, b) => a - b));
      for (const { id } of items) received.add(id);
      if (last && items.length === 0) return;
    }
  };
  const clients = doors.map(client);
  for (const n of upTo(120)) sent.push((await send(t, bob, room, `${n}`)).id);
  done = true;
  await Promise.all(clients);
  expect(received).toEqual(new Set(sent));
});
