import { seedAgents, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { act, seen, VERBS } from './act.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
beforeAll(async () => {
  t = await startTestApi();
});
beforeEach(async () => {
  const serial = Math.random().toString(36).slice(2, 10);
  [alice, bob] = (await seedAgents(t, [`alice-${serial}`, `bob-${serial}`])) as [
    TestAgent,
    TestAgent,
  ];
});
afterAll(() => t.close());

async function ask(body: object, expect: 200 | 400) {
  const params = { address: bob.number };
  return (await t.api.call('requestContact', { token: alice.token, params, body, expect })).body;
}

test.each([
  { what: '500 bytes', note: 'a'.repeat(500) },
  { what: '500 bytes of two-byte characters', note: 'é'.repeat(250) },
  { what: '500 bytes of emoji', note: '😀'.repeat(125) },
  { what: 'one character', note: '.' },
  { what: 'markup and quotes', note: `<b>"it's"</b> \\u0000 {{x}} $1` },
  { what: 'right-to-left text', note: 'سلام، من دستیار تقویم هستم' },
])('a note of $what arrives as it was written', async ({ note }) => {
  await ask({ note }, 200);
  expect(await seen(t, bob, alice)).toMatchObject({ state: 'incoming', note });
  expect(await seen(t, alice, bob)).toMatchObject({ state: 'outgoing', note });
});

test.each([
  { what: 'of 501 bytes', note: 'a'.repeat(501) },
  { what: 'of 251 two-byte characters', note: 'é'.repeat(251) },
  { what: 'of 126 emoji', note: '😀'.repeat(126) },
  { what: 'that is empty', note: '' },
  { what: 'with a line feed', note: 'one\ntwo' },
  { what: 'with a carriage return', note: 'one\rtwo' },
  { what: 'with a tab', note: 'one\ttwo' },
  { what: 'with an escape sequence', note: '\u001b[31mred' },
  { what: 'with DEL', note: 'a\u007fb' },
  { what: 'with a C1 control', note: 'a\u0085b' },
  { what: 'with a Unicode line separator', note: 'a\u2028b' },
  { what: 'with NUL', note: 'a\u0000b' },
  { what: 'with half of a surrogate pair', note: 'a\ud800b' },
])('a note $what is invalid_note and asks nothing', async ({ note }) => {
  expect(await ask({ note }, 400)).toMatchObject({ error: { code: 'invalid_note' } });
  expect(await seen(t, bob, alice)).toBeUndefined();
});

test.each([5, null, true, ['x'], { text: 'x' }])(
  'a note that is %j is invalid_request',
  async (note) => {
    const body = await ask({ note }, 400);
    expect(body).toMatchObject({
      error: { code: 'invalid_request', details: { issues: [{ path: 'body.note' }] } },
    });
    expect(await seen(t, bob, alice)).toBeUndefined();
  },
);

test('a note with any other action is invalid_note, also a good one, and changes nothing', async () => {
  await act(t, alice, 'request', bob);
  for (const verb of VERBS.filter((verb) => verb !== 'request')) {
    const { body } = await t.api.call(`${verb}Contact`, {
      token: bob.token,
      params: { address: alice.number },
      body: { note: 'hello' },
      expect: 400,
    });
    expect(body).toMatchObject({ error: { code: 'invalid_note' } });
  }
  expect((await seen(t, bob, alice))?.state).toBe('incoming');
});

test('asking again replaces the note; without a note the first one stays', async () => {
  await ask({ note: 'first' }, 200);
  await ask({ note: 'second' }, 200);
  expect((await seen(t, bob, alice))?.note).toBe('second');
  await ask({}, 200);
  expect((await seen(t, bob, alice))?.note).toBe('second');
});

test('asking back does not put a note on the request of the other', async () => {
  await act(t, bob, 'request', alice);
  expect(await ask({ note: 'me too' }, 200)).toEqual({ ok: true, state: 'incoming' });
  expect(await seen(t, bob, alice)).not.toHaveProperty('note');
  expect(await seen(t, alice, bob)).not.toHaveProperty('note');
});

test.each([
  ['accept', 'bob'],
  ['reject', 'bob'],
  ['block', 'bob'],
  ['remove', 'bob'],
  ['block', 'alice'],
  ['remove', 'alice'],
] as const)(
  'the note is gone for both sides after %s by %s, in the database too',
  async (verb, who) => {
    await ask({ note: 'secret introduction' }, 200);
    await (who === 'bob' ? act(t, bob, verb, alice) : act(t, alice, verb, bob));
    expect(await seen(t, bob, alice)).not.toHaveProperty('note');
    expect(await seen(t, alice, bob)).not.toHaveProperty('note');
    const { rows } = await t.database.pool.query(
      'SELECT count(*)::int AS notes FROM contacts WHERE identity_id = $1 AND note IS NOT NULL',
      [bob.id],
    );
    expect(rows).toEqual([{ notes: 0 }]);
  },
);

test('a note of an earlier request does not come back with a later one', async () => {
  await ask({ note: 'first' }, 200);
  await act(t, bob, 'reject', alice);
  await act(t, bob, 'remove', alice);
  await ask({}, 200);
  expect(await seen(t, bob, alice)).not.toHaveProperty('note');
});
