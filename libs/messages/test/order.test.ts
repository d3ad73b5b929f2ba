import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { ApiClient } from '@relayger/kernel/testing';
import type { MailboxItem } from '@relayger/protocol';
import { crowd, drain, group, mailbox, send, upTo, wholeHistory } from './support.js';

const SENDERS = 32;
const EACH = 12;

let t: TestApi;
let replica: Awaited<ReturnType<TestApi['replica']>>;
let senders: TestAgent[];
let readers: [TestAgent, TestAgent, TestAgent, TestAgent];

beforeAll(async () => {
  t = await startTestApi();
  replica = await t.replica();
  const agents = await crowd(t, SENDERS + 4);
  readers = agents.slice(0, 4) as typeof readers;
  senders = agents.slice(4);
});
afterAll(async () => {
  await replica.close();
  await t.close();
});

/** Every sender sends its share to every room, half of them through the replica; the acknowledged ids by sequence. */
async function sendAll(rooms: string[]): Promise<Map<string, string[]>> {
  const stored = new Map(rooms.map((room): [string, string[]] => [room, []]));
  const one = async (sender: TestAgent, n: number) => {
    const door = n % 2 ? t : { api: replica.api };
    for (const round of upTo(EACH)) {
      for (const room of rooms) {
        // Mixed sizes, so that statements of different lengths overlap.
        const text = (n + round) % 3 ? 'short' : 'long '.repeat(2500);
        const { id, seq } = await send(door, sender, room, text);
        (stored.get(room) as string[])[Number(seq)] = id;
      }
    }
  };
  await Promise.all(senders.map(one));
  for (const ids of stored.values()) ids.shift();
  return stored;
}

/** Follows one room by cursor until it has seen so many messages; their ids in the order seen. */
async function follow(api: ApiClient, who: TestAgent, room: string, total: number) {
  const seen: string[] = [];
  let after = '0';
  while (seen.length < total) {
    const options = { token: who.token, params: { room }, query: { after, limit: 100 } };
    const { body } = await api.call('listMessages', { ...options, expect: 200 });
    for (const message of body) {
      // No hole that could fill later, nothing twice, nothing out of order: exactly one more each time.
      expect(BigInt(message.sequence)).toBe(BigInt(after) + 1n);
      after = message.sequence;
      seen.push(message.messageId);
    }
  }
  return seen;
}

/** Consumes by long-poll until it has received so many messages. */
async function consume(api: ApiClient, who: TestAgent, total: number) {
  const seen: MailboxItem[] = [];
  while (seen.length < total) {
    const { items } = await mailbox({ api }, who, { consume: '1', wait: 5, limit: 37 });
    seen.push(...items);
  }
  return seen;
}

const idsOf = (items: readonly MailboxItem[], room: string) =>
  items.filter((item) => item.room === room).map(({ id }) => id);

test('32 senders over two processes: no gap, and readers miss nothing and see nothing twice', async () => {
  const room = await group(t, senders[0] as TestAgent, ...senders.slice(1), ...readers);
  const total = SENDERS * EACH;
  const started = performance.now();
  const [stored, ...seen] = await Promise.all([
    sendAll([room]),
    follow(t.api, readers[0], room, total),
    follow(replica.api, readers[1], room, total),
    consume(t.api, readers[2], total).then((items) => idsOf(items, room)),
    consume(replica.api, readers[3], total).then((items) => idsOf(items, room)),
  ]);
  const perSecond = Math.round(total / ((performance.now() - started) / 1000));
  expect(perSecond).toBeGreaterThan(0);

  const ids = stored.get(room) as string[];
  // forEach would pass over holes.
  expect(Array.from(ids, (id) => typeof id)).toEqual(upTo(total).map(() => 'string'));
  for (const each of seen) expect(each).toEqual(ids);
  const history = await wholeHistory(t, readers[0], room);
  expect(history.map(({ messageId }) => messageId)).toEqual(ids);
});

test('the same through one mailbox over many rooms', async () => {
  senders = senders.slice(0, 16);
  for (const reader of readers) await drain(t, reader);
  const rooms = await Promise.all(
    upTo(6).map(() => group(t, senders[0] as TestAgent, ...senders.slice(1), ...readers)),
  );
  const total = senders.length * EACH * rooms.length;
  const [stored, ...seen] = await Promise.all([
    sendAll(rooms),
    consume(t.api, readers[0], total),
    consume(replica.api, readers[1], total),
  ]);
  for (const room of rooms) {
    for (const each of seen) expect(idsOf(each, room)).toEqual(stored.get(room));
  }
});

test('order is the sequence, also when the clock goes back', async () => {
  const [a, b] = readers;
  await drain(t, b);
  const room = await group(t, a, b);
  await send(t, a, room, 'first');
  // As if the first had been stored before the clock was set back by an hour.
  await t.database.pool.query(
    `WITH earlier AS (UPDATE messages SET created_at = created_at + interval '1 hour' WHERE room_id = $1)
     UPDATE rooms SET last_message_at = last_message_at + interval '1 hour' WHERE id = $1`,
    [room],
  );
  await send({ api: replica.api }, a, room, 'second');
  const texts = (await wholeHistory(t, b, room)).map(({ payload }) => payload);
  expect(texts).toEqual([{ text: 'first' }, { text: 'second' }]);
  // Nor do times of a room go back: what looks for messages by time relies on it.
  const times = (await wholeHistory(t, b, room)).map(({ createdAt }) => Date.parse(createdAt));
  expect((times[1] as number) - (times[0] as number)).toBeGreaterThanOrEqual(0);
  const { items } = await mailbox(t, b);
  expect(items.map(({ body }) => body)).toEqual(texts);
});
