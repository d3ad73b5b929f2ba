import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { Receipt } from '@relayger/protocol';
import { sendRaw, upTo, wholeHistory } from './support.js';

let t: TestApi;
let replica: Awaited<ReturnType<TestApi['replica']>>;
let alice: TestAgent;
let bob: TestAgent;

beforeAll(async () => {
  t = await startTestApi();
  replica = await t.replica();
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
});
afterAll(async () => {
  await replica.close();
  await t.close();
});

const act = (verb: 'block' | 'unblock' | 'remove', who = bob, peer = alice) =>
  t.api.call(`${verb}Contact` as const, {
    token: who.token,
    params: { address: peer.id },
    body: {},
    expect: 200,
  });

async function lastSequence(room: string): Promise<number> {
  const { rows } = await t.database.pool.query('SELECT last_seq FROM rooms WHERE id = $1', [room]);
  return Number(rows[0]?.last_seq);
}

/** Sends from both sides, through both processes and both calls, until it is stopped. */
function traffic(room: string) {
  const stored: string[] = [];
  const statuses = new Set<number>();
  let stopped = false;
  const worker = async (n: number) => {
    const { api } = n % 2 ? t : replica;
    const [from, to] = n % 4 < 2 ? [alice, bob] : [bob, alice];
    while (!stopped) {
      const message = textMessage('racing');
      const body = { target: to.number, message };
      const reply =
        n % 3
          ? await sendRaw({ api }, from, room, message)
          : await api.raw('POST', '/v1/direct', { token: from.token, body });
      statuses.add(reply.status);
      if (reply.status === 201) stored.push((reply.body as Receipt).id);
    }
  };
  const workers = upTo(8).map(worker);
  return {
    stored,
    statuses,
    stop: async () => {
      stopped = true;
      await Promise.all(workers);
    },
    /** Resolves once so many messages have been stored. */
    reached: async (count: number) => {
      while (stored.length < count) await new Promise(setImmediate);
    },
  };
}

test.each(['block', 'remove'] as const)(
  'once %s has been answered, no message is stored any more, however many sends race with it',
  async (verb) => {
    await t.befriend(alice, bob);
    const body = { target: bob.number, message: textMessage('opening') };
    const opened = await t.api.call('sendDirect', { token: alice.token, body, expect: 201 });
    const { room, id } = opened.body as Receipt;
    const known =
      verb === 'block' ? [id] : (await wholeHistory(t, alice, room)).map((m) => m.messageId);

    for (const round of upTo(12)) {
      const sends = traffic(room);
      await sends.reached(round * 3);
      await act(verb);
      const atAnswer = await lastSequence(room);
      await sends.stop();
      expect(await lastSequence(room)).toBe(atAnswer);
      expect([...sends.statuses].sort()).toEqual([201, 403]);
      known.push(...sends.stored);

      if (verb === 'block') await act('unblock');
      await t.befriend(alice, bob);
    }
    const history = await wholeHistory(t, alice, room);
    expect(history.map(({ sequence }) => Number(sequence))).toEqual(upTo(known.length));
    expect(new Set(history.map(({ messageId }) => messageId))).toEqual(new Set(known));
  },
);

test('a conversation is never opened across a block that commits at the same moment', async () => {
  const outcomes = new Set<string>();
  for (const _ of upTo(12)) {
    const [a, b] = await Promise.all([t.agent(), t.agent()]);
    await t.befriend(a, b);
    const body = { target: b.number, message: textMessage('first') };
    const first = upTo(4).map((n) =>
      (n % 2 ? t : replica).api.raw('POST', '/v1/direct', { token: a.token, body }),
    );
    await act('block', b, a);
    const { rows } = await t.database.pool.query(
      `SELECT gate, last_seq FROM rooms WHERE $1 IN (dm_low, dm_high)`,
      [a.id],
    );
    const statuses = (await Promise.all(first)).map(({ status }) => status);
    const now = await t.database.pool.query(
      `SELECT gate, last_seq FROM rooms WHERE $1 IN (dm_low, dm_high)`,
      [a.id],
    );
    // What the block's answer found is all there will ever be.
    expect(now.rows).toEqual(rows);
    if (rows.length > 0) expect(rows).toEqual([{ gate: 'blocked', last_seq: '1' }]);
    expect(statuses.includes(201)).toBe(rows.length > 0);
    for (const status of statuses) expect([200, 201, 403]).toContain(status);
    outcomes.add(rows.length > 0 ? 'opened' : 'refused');
  }
  // Either may win; both must be clean. Which of them was met is chance.
  expect(outcomes.size).toBeGreaterThan(0);
});
