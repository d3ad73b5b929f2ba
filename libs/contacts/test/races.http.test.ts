import { seedAgents, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import fc from 'fast-check';
import { type ContactVerb, decide, type Relationship, STRANGERS } from '../src/relationship.js';
import { act, VERBS } from './act.js';

let t: TestApi;
let serial = 0;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

interface Action {
  by: 'a' | 'b';
  verb: ContactVerb;
}
/** The relationship from a's side. */
type Pair = Relationship;

function turn({ mine, theirs }: Pair): Pair {
  return { mine: theirs, theirs: mine };
}

/** What one action makes of a pair, and what it answers. */
function apply(pair: Pair, { by, verb }: Action): { pair: Pair; reply: string } {
  const own = by === 'a' ? pair : turn(pair);
  const outcome = decide(verb, own);
  if (outcome === 'unchanged') return { pair, reply: own.mine.state };
  if ('refuse' in outcome) return { pair, reply: outcome.refuse };
  return { pair: by === 'a' ? outcome.to : turn(outcome.to), reply: outcome.to.mine.state };
}

/** Every outcome of running these actions one after the other, in any order: final pair and replies. */
function outcomes(
  pair: Pair,
  actions: readonly Action[],
  replies: Record<number, string> = {},
): string[] {
  const left = actions.map((_, i) => i).filter((i) => !(i in replies));
  if (left.length === 0) return [JSON.stringify([states(pair), Object.values(replies)])];
  return left.flatMap((i) => {
    const step = apply(pair, actions[i] as Action);
    return outcomes(step.pair, actions, { ...replies, [i]: step.reply });
  });
}

function states({ mine, theirs }: Pair): unknown {
  return [mine, theirs].map(({ state, rejected }) => [state, rejected]);
}

async function stored(a: TestAgent, b: TestAgent): Promise<unknown> {
  const { rows } = await t.database.pool.query<{
    identity_id: string;
    state: string;
    rejected: boolean;
  }>('SELECT identity_id, state, rejected FROM contacts WHERE identity_id IN ($1, $2)', [
    a.id,
    b.id,
  ]);
  const side = ({ id }: TestAgent) => {
    const row = rows.find(({ identity_id }) => identity_id === id);
    return row ? [row.state, row.rejected] : ['removed', false];
  };
  return [side(a), side(b)];
}

const action = fc.record({ by: fc.constantFrom('a', 'b'), verb: fc.constantFrom(...VERBS) });

test('actions at the same moment leave both sides as some order of them would, with the replies of that order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 3 }),
      fc.array(action, { minLength: 2, maxLength: 5 }),
      async (before, together) => {
        const names = [`a-${serial}`, `b-${serial++}`];
        const [a, b] = (await seedAgents(t, names)) as [TestAgent, TestAgent];
        const run = ({ by, verb }: Action) => act(t, by === 'a' ? a : b, verb, by === 'a' ? b : a);
        for (const one of before) await run(one);
        const start = before.reduce<Pair>((pair, one) => apply(pair, one).pair, STRANGERS);

        const replies = await Promise.all(together.map(run));
        const observed = JSON.stringify([await stored(a, b), replies]);
        expect(new Set(outcomes(start, together))).toContain(observed);
      },
    ),
    { numRuns: 60 },
  );
});

test('two who ask each other at the same moment end as one request and its receiver', async () => {
  for (let round = 0; round < 10; round++) {
    const names = [`x-${round}`, `y-${round}`];
    const [a, b] = (await seedAgents(t, names)) as [TestAgent, TestAgent];
    const replies = await Promise.all([act(t, a, 'request', b), act(t, b, 'request', a)]);
    expect(replies.sort()).toEqual(['incoming', 'outgoing']);
  }
});

test('of many parallel acceptances and one block the block has the last word', async () => {
  for (let round = 0; round < 5; round++) {
    const names = [`p-${round}`, `q-${round}`];
    const [a, b] = (await seedAgents(t, names)) as [TestAgent, TestAgent];
    await act(t, a, 'request', b);
    await Promise.all([
      ...Array.from({ length: 8 }, () => act(t, b, 'accept', a)),
      act(t, a, 'block', b),
      ...Array.from({ length: 8 }, () => act(t, b, 'accept', a)),
    ]);
    expect(await stored(a, b)).toEqual([
      ['blocked', false],
      ['unavailable', false],
    ]);
  }
});
