import { randomUUID } from 'node:crypto';
import { registerHuman, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { statement, type Transaction } from '@relayger/kernel';
import type { ActivityKind, ActivityPage } from '@relayger/protocol';
import fc from 'fast-check';
import {
  owned,
  ownedOne,
  roomOf,
  runtimeOf,
  seedApproval,
  seedAttempt,
  seedMessages,
  seedTask,
  until,
  walk,
} from './work-support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

const idsOf = (pages: readonly ActivityPage[]) =>
  pages.flatMap(({ items }) => items.map(({ id }) => id));

/** A person with agents, and a way to let these do something. */
async function scene() {
  const owner = await registerHuman(t);
  const agents = await owned(t, owner, 3);
  const places = await Promise.all(
    agents.map(async (agent) => {
      const room = await roomOf(t, agent);
      const runtimes = [await runtimeOf(t, agent, 'one'), await runtimeOf(t, agent, 'two')];
      return { agent, room, runtimes };
    }),
  );
  /** @param at milliseconds ago */
  async function act(who: number, what: number, at: number): Promise<void> {
    const { agent, room, runtimes } = places[who % places.length] as (typeof places)[number];
    if (what === 0) return seedMessages(t, agent, { at, count: 2 });
    if (what < 3) {
      await seedAttempt(t, runtimes[what - 1] as string, { at, outcome: 'handled' });
    } else {
      const finished = { at, state: 'cancelled', end: what === 3 ? at : Math.max(0, at - 1) };
      const id = await seedTask(t, agent, room, finished);
      if (what === 5) await seedApproval(t, agent, owner, { id, room }, { at, end: at });
    }
  }
  return { owner, agents, act };
}

/** Who does what, and when: few instants, so that many things happen in the same millisecond. */
const acts = fc.array(
  fc.record({
    who: fc.nat({ max: 2 }),
    what: fc.nat({ max: 5 }),
    at: fc.integer({ min: 20, max: 24 }),
  }),
  { minLength: 1, maxLength: 12 },
);

test('pages of any size show everything once, in one order, in both directions', async () => {
  const { owner, agents, act } = await scene();
  const property = fc.asyncProperty(
    acts,
    fc.integer({ min: 1, max: 7 }),
    fc.constantFrom<ActivityKind | undefined>(undefined, 'task', 'message', 'runtime', 'approval'),
    fc.option(fc.nat({ max: 2 }), { nil: undefined }),
    async (doings, limit, kind, who) => {
      for (const { who, what, at } of doings) await act(who, what, at * 60_000);
      const filter = {
        ...(kind && { kind }),
        ...(who !== undefined && { agentId: (agents[who] as TestAgent).id }),
      };
      const whole = idsOf(await walk(t, owner.token, { ...filter, limit: 100 }));
      expect(new Set(whole).size).toBe(whole.length);
      const back = await walk(t, owner.token, { ...filter, limit });
      expect(idsOf(back)).toEqual(whole);
      for (const { items } of back.slice(0, -1)) expect(items).toHaveLength(limit);
      const items = back.flatMap((page) => page.items);
      const times = items.map(({ at }) => at);
      expect(times).toEqual([...times].sort().reverse());
      for (const item of items) {
        if (kind) expect(item.kind).toBe(kind);
        if (filter.agentId) expect(item.agentId).toBe(filter.agentId);
      }
      // From any page on, and from before everything.
      const page = back[Math.floor(back.length / 2)] as ActivityPage;
      const on = await walk(t, owner.token, { ...filter, limit }, { after: page.newestCursor });
      const newest = whole.indexOf(page.items[0]?.id as string);
      expect(idsOf(on)).toEqual(newest < 0 ? [] : whole.slice(0, newest).reverse());
    },
  );
  await fc.assert(property, { numRuns: 8, endOnFailure: true });
});

test('records that arrive while pages are read change no page, and come after the newest', async () => {
  const { owner, act } = await scene();
  for (let i = 0; i < 12; i++) await act(i, i % 6, 60_000 + i);
  const whole = idsOf(await walk(t, owner.token, { limit: 100 }));
  const first = (
    await t.api.call('listActivity', { token: owner.token, query: { limit: 4 }, expect: 200 })
  ).body;
  const seen = [first];
  while (seen.at(-1)?.nextCursor) {
    await act(seen.length, seen.length % 6, 30_000 - seen.length);
    const before = seen.at(-1)?.nextCursor as string;
    const query = { limit: 4, before };
    seen.push((await t.api.call('listActivity', { token: owner.token, query, expect: 200 })).body);
  }
  expect(idsOf(seen)).toEqual(whole);
  const on = await walk(t, owner.token, { limit: 3 }, { after: first.newestCursor });
  const now = idsOf(await walk(t, owner.token, { limit: 100 }));
  expect(idsOf(on).length).toBeGreaterThan(3);
  expect(idsOf(on)).toEqual(now.slice(0, now.length - whole.length).reverse());
});

const say = statement(
  'test_say',
  `INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, trace_id, created_at)
   VALUES (gen_random_uuid(), 1, $1, $2, gen_random_uuid(), sha256('x'), 'text', '{}', gen_random_uuid(), clock_timestamp())`,
);

/** A message whose transaction has written it and is not committed yet. */
async function hold(agent: TestAgent): Promise<{ id: string; commit: () => Promise<void> }> {
  const id = randomUUID();
  let commit: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    commit = resolve;
  });
  let done: Promise<void> = Promise.resolve();
  await new Promise<void>((written) => {
    done = t.database.transaction(async (sql: Transaction) => {
      await sql.query(say, [id, agent.id]);
      written();
      await released;
    });
  });
  return {
    id,
    commit: () => {
      commit();
      return done;
    },
  };
}

test('what commits late is neither skipped nor shown out of order', async () => {
  const owner = await registerHuman(t);
  const agent = await ownedOne(t, owner);
  await seedMessages(t, agent, { at: 60_000 });
  const read = async (query: { after?: string }) =>
    (await t.api.call('listActivity', { token: owner.token, query, expect: 200 })).body;
  const start = await read({});
  const early = await hold(agent);
  const later = randomUUID();
  await t.database.query(say, [later, agent.id]);
  // The later one waits for the earlier, in both directions.
  expect((await read({})).items).toEqual(start.items);
  const waiting = await read({ after: start.newestCursor });
  expect(waiting).toEqual({
    items: [],
    nextCursor: start.newestCursor,
    newestCursor: start.newestCursor,
  });
  await early.commit();
  const page = await until(
    () => read({ after: waiting.nextCursor as string }),
    ({ items }) => items.length === 2,
  );
  expect(page.items.map(({ id }) => id)).toEqual([`${early.id}:sent`, `${later}:sent`]);
});

test('whoever follows a busy feed gets everything once and in order', async () => {
  const owner = await registerHuman(t);
  const agents = await owned(t, owner, 2);
  const { newestCursor } = (await t.api.call('listActivity', { token: owner.token, expect: 200 }))
    .body;
  const WRITERS = 3;
  const EACH = 25;
  let writing = WRITERS;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let i = 0; i < EACH; i++) {
      const held = await hold(agents[(i + writer) % 2] as TestAgent);
      if (i % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      await held.commit();
    }
    writing--;
  });
  const seen: string[] = [];
  let after = newestCursor;
  const end = Date.now() + 15_000;
  while (seen.length < WRITERS * EACH && Date.now() < end) {
    const query = { after, limit: 10 };
    const { body } = await t.api.call('listActivity', { token: owner.token, query, expect: 200 });
    seen.push(...body.items.map(({ id }) => id));
    after = body.nextCursor as string;
  }
  await Promise.all(writers);
  expect(writing).toBe(0);
  const whole = await until(
    async () => idsOf(await walk(t, owner.token, { limit: 100 })),
    ({ length }) => length === WRITERS * EACH,
  );
  expect(seen).toEqual([...whole].reverse());
});
