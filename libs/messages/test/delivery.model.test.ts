import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { ApiClient } from '@relayger/kernel/testing';
import type { MailboxItem, SendMessage } from '@relayger/protocol';
import fc from 'fast-check';
import { ack, crowd, drain, group, join, mailbox, send } from './support.js';

// Whatever three agents do in two rooms, at the same moment and through two processes: every message is delivered to
// everybody who was a member before it was sent, at least once and in order, and to nobody else.

const AGENTS = [0, 1, 2] as const;
const ROOMS = [0, 1] as const;

let t: TestApi;
let replica: Awaited<ReturnType<TestApi['replica']>>;

beforeAll(async () => {
  t = await startTestApi();
  replica = await t.replica();
});
afterAll(async () => {
  await replica.close();
  await t.close();
});

interface Step {
  do: 'send' | 'status' | 'ack' | 'consume' | 'join';
  who: number;
  room: number;
  limit: number;
}

const kinds: Step['do'][] = ['send', 'send', 'send', 'status', 'ack', 'consume', 'consume', 'join'];
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(...kinds),
  who: fc.constantFrom(...AGENTS),
  room: fc.constantFrom(...ROOMS),
  limit: fc.constantFrom(1, 2, 5, 100),
});
/** Steps of one round run at the same moment; rounds follow each other. */
const script = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 8,
});

interface Sent {
  id: string;
  seq: number;
  room: number;
  from: number;
  live: boolean;
  round: number;
}

/** What the three have done and received, as an observer outside knows it. */
class World {
  readonly sent: Sent[] = [];
  readonly pages: { who: number; items: MailboxItem[] }[] = [];
  /** Round in which `who` joined `room`; the owner was there from the beginning. */
  readonly joined = new Map<string, number>();
  /** Highest sequence that `who` has declared handled by an acknowledgement of its own. */
  readonly acked = new Map<string, number>();

  constructor(
    readonly agents: TestAgent[],
    readonly rooms: string[],
  ) {
    for (const room of ROOMS) this.joined.set(`${room} ${room}`, -1);
  }

  async run(step: Step, round: number, door: { api: ApiClient }): Promise<void> {
    const agent = this.agents[step.who] as TestAgent;
    if (step.do === 'consume') {
      const { items } = await mailbox(door, agent, { consume: '1', limit: step.limit });
      this.pages.push({ who: step.who, items });
      return;
    }
    const key = `${step.who} ${step.room}`;
    const id = this.rooms[step.room] as string;
    const isMember = (this.joined.get(key) ?? round) < round;
    if (step.do === 'join') {
      if (this.joined.has(key)) return;
      this.joined.set(key, round);
      await join(t, this.agents[step.room] as TestAgent, id, agent);
    } else if ((step.do === 'send' || step.do === 'status') && isMember) {
      const { who, room } = step;
      const live = step.do === 'status';
      const status = { type: 'status', payload: { state: 'idle' } };
      const message = { ...textMessage(randomUUID()), ...(live && status) } as SendMessage;
      const receipt = await send(door, agent, id, message);
      this.sent.push({ id: receipt.id, seq: Number(receipt.seq), room, from: who, live, round });
    } else if (step.do === 'ack' && isMember) {
      // What it could know of: everything that was said in earlier rounds.
      const known = this.sent.filter((one) => one.room === step.room && one.round < round);
      const newest = Math.max(0, ...known.map(({ seq }) => seq));
      this.acked.set(key, Math.max(newest, this.acked.get(key) ?? 0));
      await ack(t, agent, id, String(newest));
    }
  }

  /** Everything that is wrong with what was delivered; empty when all is well. */
  problems(): string[] {
    const problems: string[] = [];
    for (const who of AGENTS) {
      const received = this.pages.filter((page) => page.who === who).flatMap(({ items }) => items);
      const ids = new Set(received.map(({ id }) => id));
      for (const one of this.sent) {
        const key = `${who} ${one.room}`;
        const joined = this.joined.get(key) ?? Number.POSITIVE_INFINITY;
        const mine = one.from === who || one.live;
        const handled = one.seq <= (this.acked.get(key) ?? 0);
        const got = ids.has(one.id);
        if (got && (mine || joined > one.round)) problems.push(`${who} got ${JSON.stringify(one)}`);
        if (!got && !mine && !handled && joined < one.round)
          problems.push(`${who} never got ${JSON.stringify(one)}`);
      }
    }
    for (const { who, items } of this.pages) {
      for (const room of this.rooms) {
        const page = items.filter((item) => item.room === room).map(({ seq }) => Number(seq));
        const pending = this.sent
          .filter((one) => this.rooms[one.room] === room && one.from !== who && !one.live)
          .map(({ seq }) => seq)
          .filter((seq) => seq >= (page[0] ?? 0) && seq <= (page.at(-1) ?? -1))
          .sort((a, b) => a - b);
        // A contiguous piece of what waits for this agent, in order.
        if (page.join() !== pending.join()) problems.push(`${who}: ${page} of ${pending}`);
      }
    }
    return problems;
  }
}

test('random interleavings of send, acknowledge, consume and join', async () => {
  let runs = 0;
  const property = fc.asyncProperty(script, async (rounds) => {
    runs++;
    const agents = await crowd(t, 3);
    const rooms = await Promise.all(ROOMS.map((n) => group(t, agents[n] as TestAgent)));
    const world = new World(agents, rooms);
    for (const [round, steps] of rounds.entries()) {
      const doors = [t, replica];
      await Promise.all(
        steps.map((one, i) => world.run(one, round, doors[i % 2] as { api: ApiClient })),
      );
    }
    for (const who of AGENTS) {
      const items = await drain(t, agents[who] as TestAgent, 3);
      // Pages of one drain follow each other, so they may be looked at as one.
      world.pages.push({ who, items });
    }
    expect(world.problems()).toEqual([]);
  });
  await fc.assert(property, {
    seed: 20_261_129,
    numRuns: 500,
    interruptAfterTimeLimit: 10_000,
    endOnFailure: true,
  });
  expect(runs).toBeGreaterThan(20);
}, 40_000);
