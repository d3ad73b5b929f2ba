import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { ApiClient } from '@relayger/kernel/testing';
import type { Receipt } from '@relayger/protocol';
import fc from 'fast-check';
import { itemOf, ModelRoom, pageOf, type Who } from './delivery-model.js';
import { storeEvent } from './events.js';
import { correction, draft, retraction } from './revising.js';
import { crowd, drain, group, mailbox, tokenFor } from './support.js';

// Whatever three agents with several tokens do in three rooms, one thing after the other: every answer is exactly what
// the model says. Nothing is skipped, nothing comes to who is not a member, own and live events never come, and no
// cursor goes back. In delivery.concurrent.test.ts it all happens at the same moment.

const AGENTS = [0, 1, 2] as const;
const ROOMS = [0, 1, 2] as const;
/** Two that reach everything, and one that is limited to the first room. */
const TOKENS = [0, 1, 2] as const;
const LIMITED = 2;

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

interface Model {
  rooms: ModelRoom[];
  /** Numbers of the agents. */
  numbers: string[];
  /** Cursors as the list of rooms showed them last, by agent and room. */
  shown: Map<string, number>;
}

interface Real {
  agents: TestAgent[];
  /** By agent and token. */
  clients: TestAgent[][];
}

const step = {
  who: fc.constantFrom(...AGENTS),
  token: fc.constantFrom(...TOKENS),
  replica: fc.boolean(),
  room: fc.constantFrom(...ROOMS),
  whom: fc.constantFrom(...AGENTS),
  limit: fc.constantFrom(1, 2, 3, 7, 100),
  /** Chooses a sequence or a message of those that there are. */
  pick: fc.nat(1000),
};
type Step = {
  [K in keyof typeof step]: (typeof step)[K] extends fc.Arbitrary<infer T> ? T : never;
};

interface Scene extends Step {
  model: Model;
  real: Real;
  /** The room of the step. */
  at: ModelRoom;
  api: ApiClient;
  bearer: string;
  /** Whether the agent, with this token, may use the room. */
  inside: boolean;
}

type Action = (scene: Scene) => Promise<void>;

/** Calls with the status that the model expects. */
const status = <S extends number>(ok: S, ...refusals: [boolean, number][]): S =>
  (refusals.find(([refused]) => refused)?.[1] ?? ok) as S;

const sending =
  (type: 'text' | 'data' | 'status', payload: () => object): Action =>
  async ({ api, bearer, at, who, inside }) => {
    const body = draft(type, payload());
    const options = { token: bearer, params: { room: at.id }, query: { view: 'receipt' as const } };
    const expect = status(201, [!inside, 404]);
    const reply = await api.call('sendMessage', { ...options, body, expect });
    if (!inside) return;
    const { id, seq } = reply.body as Receipt;
    at.say({ id, from: who, type, payload: body.payload });
    same(Number(seq), at.last);
  };

const revising =
  (retracts: boolean): Action =>
  async ({ api, bearer, at, who, pick, inside }) => {
    const own = at.messages.filter(({ from, type }) => from === who && type !== 'progress');
    const message = own[pick % own.length];
    if (!message) return;
    const payload = { text: `better ${randomUUID()}` };
    const body = retracts ? retraction() : correction(payload);
    const { state, count = 0 } = message.revision ?? {};
    const isFinal = !['text', 'data'].includes(message.type) || state === 'retracted';
    const wrongShape = !retracts && message.type === 'data';
    const expect = status(
      201,
      [!inside, 404],
      [isFinal, 409],
      [wrongShape, 400],
      [!retracts && count === 10, 409],
    );
    const params = { room: at.id, id: message.id };
    const reply = await api.call('reviseMessage', { token: bearer, params, body, expect });
    if (expect !== 201) return;
    at.revise(message, retracts ? null : payload);
    const event = { messageId: message.id, sequence: String(message.seq), action: body.action };
    at.say({
      id: reply.body.id,
      from: who,
      type: 'revision',
      payload: { ...event, ...(!retracts && { payload }) },
      replyTo: message.id,
    });
  };

const reading =
  (consume: '0' | '1'): Action =>
  async ({ model, real, api, who, token, limit }) => {
    const reachable = token === LIMITED ? model.rooms.slice(0, 1) : model.rooms;
    const page = pageOf(reachable, who, limit);
    const client = real.clients[who]?.[token] as TestAgent;
    const { items } = await mailbox({ api }, client, { consume, limit });
    same(
      items,
      page.map((pending) => itemOf(pending, model.numbers)),
    );
    if (consume === '1') for (const { room, message } of page) room.handle(who, message.seq);
  };

const ACTIONS = {
  text: sending('text', () => ({ text: `words ${randomUUID()}` })),
  data: sending('data', () => ({ schema: 'a.v1', data: { n: randomUUID() } })),
  status: sending('status', () => ({ state: 'working' })),
  correct: revising(false),
  retract: revising(true),
  read: reading('0'),
  consume: reading('1'),

  /** What the server tells live of a task of somebody. */
  async progress({ real, at, who }) {
    const payload = { taskId: randomUUID(), percent: 1 };
    const { id } = await storeEvent(t, at.id, real.agents[who] as TestAgent, 'progress', payload);
    at.append({ id, from: who, type: 'progress', payload });
  },

  async ack({ api, bearer, at, who, pick, inside }) {
    const sequence = pick % (at.last + 2);
    const expect = status(200, [!inside, 404], [sequence > at.last, 400]);
    const body = { sequence: String(sequence) };
    const reply = await api.call('ackRoom', {
      token: bearer,
      params: { room: at.id },
      body,
      expect,
    });
    if (expect !== 200) return;
    at.handle(who, sequence);
    same(reply.body.deliveredSequence, String(at.cursors.get(who)));
  },

  async history({ api, bearer, at, pick, limit, inside }) {
    const after = pick % (at.last + 1);
    const query = { after: String(after), limit };
    const expect = status(200, [!inside, 404]);
    const options = { token: bearer, params: { room: at.id }, query, expect };
    const reply = await api.call('listMessages', options);
    if (!inside) return;
    const seen = reply.body.map(({ messageId, sequence, payload, revision }) => ({
      id: messageId,
      seq: Number(sequence),
      payload,
      count: revision?.count,
      state: revision?.state,
    }));
    const expected = at.messages.slice(after, after + limit);
    same(
      seen,
      expected.map(({ id, seq, payload, revision }) => ({
        id,
        seq,
        payload,
        count: revision?.count,
        state: revision?.state,
      })),
    );
  },

  async rooms({ model, real, api, who }) {
    const token = real.agents[who]?.token as string;
    const { body } = await api.call('listRooms', { token, expect: 200 });
    const joined = model.rooms.filter(({ cursors }) => cursors.has(who));
    same(body.map(({ id }) => id).sort(), joined.map(({ id }) => id).sort());
    for (const { id, sequence, deliveredSequence, unread, members } of body) {
      const room = joined.find((one) => one.id === id) as ModelRoom;
      same(
        { sequence, deliveredSequence, unread, members },
        {
          sequence: String(room.last),
          deliveredSequence: String(room.delivered(who)),
          unread: room.pending(who).length,
          members: room.cursors.size,
        },
      );
      if (unread === 0) same(deliveredSequence, sequence);
      const before = model.shown.get(`${who} ${id}`) ?? 0;
      same(Number(deliveredSequence) >= before, true);
      model.shown.set(`${who} ${id}`, Number(deliveredSequence));
    }
  },

  async add({ real, api, at, who, whom }) {
    const member = at.cursors.has(whom);
    const expect = status(201, [!at.cursors.has(who), 404], [at.owner !== who, 403], [member, 200]);
    await onMember(api, real, 'addMember', { at, who, whom, expect });
    if (expect === 201) at.cursors.set(whom, at.last);
  },

  async remove({ real, api, at, who, whom }) {
    const expect = status(
      200,
      [!at.cursors.has(who), 404],
      [at.owner !== who && who !== whom, 403],
      [at.owner === whom, 409],
      [!at.cursors.has(whom), 404],
    );
    await onMember(api, real, 'removeMember', { at, who, whom, expect });
    if (expect === 200) at.cursors.delete(whom);
  },

  async leave({ real, api, at, who }) {
    const expect = status(200, [!at.cursors.has(who), 404], [at.owner === who, 409]);
    const token = real.agents[who]?.token as string;
    await api.call('leaveRoom', { token, params: { room: at.id }, body: {}, expect });
    if (expect === 200) at.cursors.delete(who);
  },
} satisfies Record<string, Action>;

async function onMember(
  api: ApiClient,
  { agents }: Real,
  operation: 'addMember' | 'removeMember',
  { at, who, whom, expect }: { at: ModelRoom; who: Who; whom: Who; expect: number },
): Promise<void> {
  const token = agents[who]?.token as string;
  const params = { room: at.id, identity: agents[whom]?.id as string };
  await api.call(operation, { token, params, expect: expect as 200 });
}

const same = (actual: unknown, expected: unknown) => expect(actual).toEqual(expected);

class Command implements fc.AsyncCommand<Model, Real> {
  constructor(
    readonly action: keyof typeof ACTIONS,
    readonly step: Step,
  ) {}

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    const { step } = this;
    const at = model.rooms[step.room] as ModelRoom;
    const inside = at.cursors.has(step.who) && (step.token !== LIMITED || step.room === 0);
    const bearer = real.clients[step.who]?.[step.token]?.token as string;
    const { api } = step.replica ? replica : t;
    await ACTIONS[this.action]({ ...step, model, real, at, api, bearer, inside });
  }

  toString = () => `${this.action} ${JSON.stringify(this.step)}`;
}

const WEIGHTS: Record<keyof typeof ACTIONS, number> = {
  text: 8,
  data: 2,
  status: 3,
  progress: 2,
  correct: 3,
  retract: 1,
  read: 4,
  consume: 6,
  ack: 3,
  history: 1,
  rooms: 3,
  add: 3,
  remove: 1,
  leave: 1,
};
const commands = fc.commands(
  Object.entries(WEIGHTS).flatMap(([action, weight]) => {
    const one = fc.record(step).map((drawn) => new Command(action as keyof typeof ACTIONS, drawn));
    return Array.from({ length: weight }, () => one);
  }),
  { maxCommands: 60, size: 'max' },
);

async function setup(): Promise<{ model: Model; real: Real }> {
  const agents = await crowd(t, AGENTS.length);
  // One room of all, one of two and one of its owner alone.
  const joined: Who[][] = [[0, 1, 2], [1, 2], [2]];
  const rooms = await Promise.all(
    joined.map(async ([owner = 0, ...others]) => {
      const members = others.map((who) => agents[who] as TestAgent);
      const id = await group(t, agents[owner] as TestAgent, ...members);
      return new ModelRoom(id, owner, [owner, ...others]);
    }),
  );
  const clients = await Promise.all(
    agents.map(async (agent) => [
      agent,
      await tokenFor(t, agent),
      await tokenFor(t, agent, { roomIds: [rooms[0]?.id as string] }),
    ]),
  );
  const numbers = agents.map(({ number }) => number);
  return { model: { rooms, numbers, shown: new Map() }, real: { agents, clients } };
}

test('every answer is what the model says, whoever does whatever in whichever order', async () => {
  // Not fast-check's own limit, which fails when a busy machine does not finish the first run within it.
  const deadline = performance.now() + 9_000;
  let runs = 0;
  const property = fc.asyncProperty(commands, async (script) => {
    if (runs > 0 && performance.now() > deadline) return;
    runs++;
    const start = await setup();
    await fc.asyncModelRun(() => start, script);
    const { model, real } = start;
    // Whatever still waits comes, once and in order; then nothing does.
    for (const who of AGENTS) {
      const waiting = model.rooms.map((room) => room.pending(who).map(({ id }) => id));
      const items = await drain(t, real.agents[who] as TestAgent, 3);
      const received = model.rooms.map((room) =>
        items.filter((item) => item.room === room.id).map(({ id }) => id),
      );
      same(received, waiting);
    }
  });
  // A failure prints its seed and path: { seed, path } here runs it again.
  await fc.assert(property, { numRuns: 200, endOnFailure: true });
}, 60_000);
