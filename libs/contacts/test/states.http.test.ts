import { seedAgents, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { ContactVerb } from '../src/relationship.js';
import { act, seen, VERBS } from './act.js';

let t: TestApi;
let pairs: [TestAgent, TestAgent][];
beforeAll(async () => {
  t = await startTestApi();
  const handles = Array.from({ length: 160 }, (_, i) => `agent-${i}`);
  const agents = await seedAgents(t, handles);
  pairs = agents.flatMap((a, i) => (i % 2 ? [] : [[a, agents[i + 1] as TestAgent]]));
});
afterAll(() => t.close());

/** Two agents that have never met, called a and b. */
function strangers(): { a: TestAgent; b: TestAgent } {
  const [a, b] = pairs.pop() ?? [];
  if (!a || !b) throw new Error('seed more agents');
  return { a, b };
}

async function play(who: ReturnType<typeof strangers>, steps: string[]): Promise<void> {
  for (const step of steps) {
    const [actor, verb] = step.split(' ') as ['a' | 'b', ContactVerb];
    await act(t, who[actor], verb, who[actor === 'a' ? 'b' : 'a']);
  }
}

const REFUSED = 'contact_unavailable';
const NONE = 'no_pending_request';
const friends = ['a request', 'b accept'];

/**
 * Every state as a sees it, how it comes about, and for each action of a: the reply, and what a and b see
 * afterwards where that differs from before.
 */
const STATES: {
  name: string;
  steps: string[];
  sees: [string | undefined, string | undefined];
  after: Record<ContactVerb, [reply: string, a?: string, b?: string]>;
}[] = [
  {
    name: 'strangers',
    steps: [],
    sees: [undefined, undefined],
    after: {
      request: ['outgoing', 'outgoing', 'incoming'],
      accept: [NONE],
      reject: [NONE],
      remove: ['removed'],
      block: ['blocked', 'blocked', 'unavailable'],
      unblock: ['removed'],
    },
  },
  {
    name: 'removed',
    steps: [...friends, 'b remove'],
    sees: ['removed', 'removed'],
    after: {
      request: ['outgoing', 'outgoing', 'incoming'],
      accept: [NONE],
      reject: [NONE],
      remove: ['removed'],
      block: ['blocked', 'blocked', 'unavailable'],
      unblock: ['removed'],
    },
  },
  {
    name: 'outgoing',
    steps: ['a request'],
    sees: ['outgoing', 'incoming'],
    after: {
      request: ['outgoing'],
      accept: [NONE],
      reject: [NONE],
      remove: ['removed', 'removed', 'removed'],
      block: ['blocked', 'blocked', 'unavailable'],
      unblock: ['outgoing'],
    },
  },
  {
    name: 'incoming',
    steps: ['b request'],
    sees: ['incoming', 'outgoing'],
    after: {
      // They asked first: asking back answers incoming and accepts nothing.
      request: ['incoming'],
      accept: ['friend', 'friend', 'friend'],
      reject: ['declined', 'declined', 'declined'],
      remove: ['removed', 'removed', 'removed'],
      block: ['blocked', 'blocked', 'unavailable'],
      unblock: ['incoming'],
    },
  },
  {
    name: 'friend',
    steps: friends,
    sees: ['friend', 'friend'],
    after: {
      request: ['friend'],
      accept: ['friend'],
      reject: [NONE],
      remove: ['removed', 'removed', 'removed'],
      block: ['blocked', 'blocked', 'unavailable'],
      unblock: ['friend'],
    },
  },
  {
    name: 'declined by oneself',
    steps: ['b request', 'a reject'],
    sees: ['declined', 'declined'],
    after: {
      request: ['outgoing', 'outgoing', 'incoming'],
      accept: [NONE],
      reject: ['declined'],
      remove: ['removed', 'removed', 'removed'],
      block: ['blocked', 'blocked', 'unavailable'],
      unblock: ['declined'],
    },
  },
  {
    name: 'declined by the other',
    steps: ['a request', 'b reject'],
    sees: ['declined', 'declined'],
    after: {
      request: [REFUSED],
      accept: [NONE],
      reject: [NONE],
      remove: ['declined'],
      block: ['blocked', 'blocked', 'unavailable'],
      unblock: ['declined'],
    },
  },
  {
    name: 'blocked by oneself',
    steps: [...friends, 'a block'],
    sees: ['blocked', 'unavailable'],
    after: {
      request: [REFUSED],
      accept: [NONE],
      reject: [NONE],
      remove: ['blocked'],
      block: ['blocked'],
      unblock: ['removed', 'removed', 'removed'],
    },
  },
  {
    name: 'blocked by the other',
    steps: [...friends, 'b block'],
    sees: ['unavailable', 'blocked'],
    after: {
      request: [REFUSED],
      accept: [NONE],
      reject: [NONE],
      remove: ['unavailable'],
      block: ['blocked', 'blocked', 'blocked'],
      unblock: ['unavailable'],
    },
  },
  {
    name: 'blocked by both',
    steps: ['b block', 'a block'],
    sees: ['blocked', 'blocked'],
    after: {
      request: [REFUSED],
      accept: [NONE],
      reject: [NONE],
      remove: ['blocked'],
      block: ['blocked'],
      unblock: ['unavailable', 'unavailable', 'blocked'],
    },
  },
];

test.each(
  STATES.flatMap(({ name, steps, sees, after }) =>
    VERBS.map((verb) => {
      const [reply, a, b] = after[verb];
      return { name, verb, steps, sees, reply, left: a === undefined ? sees : [a, b] };
    }),
  ),
)('$name: $verb answers $reply', async ({ verb, steps, sees, reply, left }) => {
  const pair = strangers();
  const both = async () => [
    (await seen(t, pair.a, pair.b))?.state,
    (await seen(t, pair.b, pair.a))?.state,
  ];
  await play(pair, steps);
  expect(await both()).toEqual(sees);
  expect(await act(t, pair.a, verb, pair.b)).toBe(reply);
  expect(await both()).toEqual(left);
});

test.each([
  { steps: ['a block', 'a unblock'], why: 'its own block' },
  {
    steps: ['a block', 'b block', 'b unblock', 'a unblock'],
    why: 'blocks of both, theirs lifted first',
  },
  {
    steps: ['b block', 'a block', 'a unblock', 'b unblock'],
    resets: true,
    why: 'the block of the other',
  },
])('whoever was declined cannot ask again by way of $why', async ({ steps, resets = false }) => {
  const pair = strangers();
  await play(pair, ['a request', 'b reject', ...steps]);
  // Lifting a block is the rejecter's own doing, and resets as remove does.
  expect(await act(t, pair.a, 'request', pair.b)).toBe(resets ? 'outgoing' : REFUSED);
});

test('whoever declined may lift that, and then both may ask again', async () => {
  const pair = strangers();
  await play(pair, ['a request', 'b reject', 'b remove']);
  expect(await act(t, pair.a, 'request', pair.b)).toBe('outgoing');
  expect(await act(t, pair.b, 'request', pair.a)).toBe('incoming');
  expect(await act(t, pair.b, 'accept', pair.a)).toBe('friend');
});

test('an action on oneself is invalid_target, whatever it is', async () => {
  const { a } = strangers();
  for (const verb of VERBS) {
    for (const address of [a.number, `@${a.handle}`, a.id]) {
      const path = `/v1/contacts/${address}/${verb}`;
      const { body } = await t.api.raw('POST', path, { token: a.token, body: {}, expect: 400 });
      expect(body).toMatchObject({ error: { code: 'invalid_target' } });
    }
  }
});

test('an action on nobody is not_found, and on a mistyped number says so', async () => {
  const { a } = strangers();
  const codes = { '1234567897': 'not_found', '1234567890': 'invalid_number_check_digit' };
  for (const verb of VERBS) {
    for (const [address, code] of Object.entries({ ...codes, '123': 'invalid_number' })) {
      const path = `/v1/contacts/${address}/${verb}`;
      const { body } = await t.api.raw('POST', path, { token: a.token, body: {} });
      expect(body).toMatchObject({ error: { code } });
    }
  }
});
