import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { ApiClient, ApiReply } from '@relayger/kernel/testing';
import type { MailboxItem, Receipt, ReviseMessageRequest } from '@relayger/protocol';
import { correction, messageAt, retraction, revise, reviseRaw } from './revising.js';
import { drain, group, mailbox, send, sendRaw, upTo, wholeHistory } from './support.js';

let t: TestApi;
let replica: Awaited<ReturnType<TestApi['replica']>>;
let doors: [{ api: ApiClient }, { api: ApiClient }];
let alice: TestAgent;
let bob: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  replica = await t.replica();
  doors = [t, replica];
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
  room = await group(t, alice, bob);
});
afterAll(async () => {
  await replica.close();
  await t.close();
});

const door = (n: number) => doors[(n % 2) as 0 | 1];
const statuses = (replies: readonly ApiReply[]) => replies.map(({ status }) => status).sort();
const codes = (replies: readonly ApiReply[]) =>
  replies.flatMap(({ body }) =>
    typeof body === 'object' && body && 'error' in body
      ? [(body.error as { code: string }).code]
      : [],
  );
const together = (sent: Receipt, bodies: readonly ReviseMessageRequest[]) =>
  Promise.all(bodies.map((body, n) => reviseRaw(door(n), alice, sent, body)));

/** The events of a message in the order of the room. */
const eventsOf = async ({ id }: Receipt) =>
  (await wholeHistory(t, bob, room)).filter(
    ({ type, replyTo }) => type === 'revision' && replyTo === id,
  );

/** Resolves when so many connections of the database wait for a lock. */
async function waitingForLock(count: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const { rows } = await t.database.pool.query(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (rows[0].waiting >= count) return;
    if (performance.now() > deadline) throw new Error(`only ${rows[0].waiting} wait for a lock`);
  }
}

/** Holds the room's row while `start` gets its requests going, one waiting behind the other. */
async function queued<T>(start: ((ready: () => Promise<void>) => Promise<T>)[]): Promise<T[]> {
  const lock = await t.database.pool.connect();
  try {
    await lock.query('BEGIN');
    await lock.query('SELECT FROM rooms WHERE id = $1 FOR UPDATE', [room]);
    const running: Promise<T>[] = [];
    for (const [n, one] of start.entries()) {
      running.push(one(() => waitingForLock(n + 1)));
      await waitingForLock(n + 1);
    }
    await lock.query('COMMIT');
    return await Promise.all(running);
  } finally {
    lock.release();
  }
}

test('20 parallel retries of one key are one correction with one event', async () => {
  for (const round of upTo(5)) {
    const sent = await send(t, alice, room, `round ${round}`);
    const body = round === 5 ? retraction() : correction(`corrected ${round}`);
    const replies = await together(
      sent,
      upTo(20).map(() => body),
    );
    expect(statuses(replies)).toEqual([...upTo(19).map(() => 200), 201]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(await eventsOf(sent)).toHaveLength(1);
    expect((await messageAt(t, bob, sent)).revision?.count).toBe(round === 5 ? 0 : 1);
  }
  const sequences = (await wholeHistory(t, alice, room)).map(({ sequence }) => Number(sequence));
  expect(sequences).toEqual(upTo(sequences.length));
});

test('one key for two messages at once, and for a message and a revision at once, is one of them', async () => {
  for (const round of upTo(8)) {
    const [one, two] = [await send(t, alice, room), await send(t, alice, room)];
    const body = correction(`words ${round}`);
    const message = textMessage('words', { clientMessageId: body.clientMessageId });
    const replies = await Promise.all([
      reviseRaw(door(0), alice, one, body),
      reviseRaw(door(1), alice, two, body),
      sendRaw(door(round), alice, room, message),
    ]);
    expect(statuses(replies)).toEqual([201, 409, 409]);
    expect(codes(replies)).toEqual(['idempotency_conflict', 'idempotency_conflict']);
    const revised = await Promise.all([one, two].map((sent) => messageAt(t, bob, sent)));
    const changed = revised.filter(({ revision }) => revision !== undefined).length;
    expect(changed).toBe(replies[2]?.status === 201 ? 0 : 1);
  }
});

test('two corrections at once both count, and the message says what the later event says', async () => {
  for (const round of upTo(8)) {
    const sent = await send(t, alice, room, 'first');
    const replies = await together(sent, [correction(`a${round}`), correction(`b${round}`)]);
    expect(statuses(replies)).toEqual([201, 201]);
    const now = await messageAt(t, bob, sent);
    expect(now.revision).toMatchObject({ state: 'corrected', count: 2 });
    const events = await eventsOf(sent);
    expect(events).toHaveLength(2);
    expect(events.at(-1)?.payload).toMatchObject({ payload: now.payload });
  }
});

test('of 14 corrections at once 10 are made', async () => {
  const sent = await send(t, alice, room, 'first');
  const replies = await together(
    sent,
    upTo(14).map((n) => correction(`${n}`)),
  );
  expect(statuses(replies)).toEqual([...upTo(10).map(() => 201), ...upTo(4).map(() => 409)]);
  expect(new Set(codes(replies))).toEqual(new Set(['revision_limit']));
  const events = await eventsOf(sent);
  expect(events).toHaveLength(10);
  const now = await messageAt(t, bob, sent);
  expect(now.revision).toMatchObject({ count: 10 });
  expect(events.at(-1)?.payload).toMatchObject({ payload: now.payload });
});

test.each([
  ['the correction first', [201, 201]],
  ['the retraction first', [201, 409]],
])('a correction and a retraction at once, %s: nothing of it is left', async (name, expected) => {
  for (const round of upTo(3)) {
    const sent = await send(t, alice, room, 'a secret of mine');
    const bodies = [correction(`a secret of ours ${round}`), retraction()];
    if (name === 'the retraction first') bodies.reverse();
    const replies = await queued(
      bodies.map((body, n) => () => reviseRaw(door(n), alice, sent, body)),
    );
    expect(statuses(replies)).toEqual(expected);
    if (expected[1] === 409) expect(codes(replies)).toEqual(['message_final']);
    const now = await messageAt(t, bob, sent);
    expect(now).toMatchObject({
      payload: { text: '[retracted]' },
      revision: { state: 'retracted' },
    });
    const events = await eventsOf(sent);
    expect(events.map(({ payload }) => (payload as { action: string }).action).at(-1)).toBe(
      'retract',
    );
    expect(JSON.stringify(events)).not.toContain('secret');
  }
});

test('many corrections and retractions of several messages at once end without a deadlock', async () => {
  const sent = await Promise.all(upTo(4).map(() => send(t, alice, room, 'a secret')));
  const replies = await Promise.all(
    upTo(40).map((n) => {
      const body = n > 36 ? retraction() : correction(`a secret ${n}`);
      return reviseRaw(door(n), alice, sent[n % 4] as Receipt, body);
    }),
  );
  expect(statuses(replies).filter((status) => status !== 201 && status !== 409)).toEqual([]);
  for (const one of sent) {
    expect((await messageAt(t, bob, one)).payload).toEqual({ text: '[retracted]' });
    expect(JSON.stringify(await eventsOf(one))).not.toContain('secret');
  }
});

test('a mailbox that is read meanwhile shows the message before or after, and then its event', async () => {
  await drain(t, bob);
  const sent = await send(t, alice, room, 'version 0');
  let revising = true;
  const reading = async (n: number) => {
    const versions: number[] = [];
    while (revising) {
      const { items } = await mailbox(door(n), bob, { limit: 100 });
      const [message, ...events] = items;
      expect(message?.id).toBe(sent.id);
      const { text } = (message as MailboxItem).body as { text: string };
      const version = Number(text.split(' ')[1]);
      // The message and the events that tell of it become visible together.
      expect(events.map(({ type }) => type)).toEqual(upTo(version).map(() => 'revision'));
      versions.push(version);
    }
    return versions;
  };
  const readers = [reading(0), reading(1), reading(0), reading(1)];
  for (const n of upTo(10)) await revise(door(n), alice, sent, correction(`version ${n}`));
  revising = false;
  for (const versions of await Promise.all(readers))
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
});

test('who is removed while the revision waits for the room changes nothing', async () => {
  const carol = await t.agent();
  const params = { room, identity: carol.id };
  for (const body of [correction('an afterthought'), retraction()]) {
    await t.api.call('addMember', { token: alice.token, params, expect: 201 });
    const sent = await send(t, carol, room, 'what I said');
    const [, reply] = await queued<unknown>([
      () => t.api.call('removeMember', { token: alice.token, params, expect: 200 }),
      () => reviseRaw(door(1), carol, sent, body),
    ]);
    expect((reply as ApiReply).status).toBe(404);
    expect(await messageAt(t, bob, sent)).toMatchObject({ payload: { text: 'what I said' } });
    expect(await eventsOf(sent)).toEqual([]);
  }
});

test('sends and revisions of both sides at once keep the sequence without gaps, and everything is delivered', async () => {
  await Promise.all([drain(t, alice), drain(t, bob)]);
  const stored: string[] = [];
  const one = async (who: TestAgent, n: number) => {
    const sent = await send(door(n), who, room, `note ${n}`);
    const event = await revise(door(n + 1), who, sent, n % 3 ? correction(`${n}`) : retraction());
    if (who === alice) stored.push(sent.id, event.id);
  };
  await Promise.all(upTo(30).map((n) => one(n % 2 ? alice : bob, n)));
  const received = new Set((await drain(t, bob, 7)).map(({ id }) => id));
  expect(received).toEqual(new Set(stored));
  const sequences = (await wholeHistory(t, alice, room)).map(({ sequence }) => Number(sequence));
  expect(sequences).toEqual(upTo(sequences.length));
});
