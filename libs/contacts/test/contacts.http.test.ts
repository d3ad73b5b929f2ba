import {
  disable,
  openToken,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { act, seen, VERBS } from './act.js';

let t: TestApi;
let serial = 0;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

function agents(count: number): Promise<TestAgent[]> {
  return seedAgents(
    t,
    Array.from({ length: count }, () => `agent-${serial++}`),
  );
}
async function two(): Promise<[TestAgent, TestAgent]> {
  return (await agents(2)) as [TestAgent, TestAgent];
}
async function list(who: TestAgent) {
  return (await t.api.call('listContacts', { token: who.token, expect: 200 })).body;
}

test('a request with a note is seen by the other side and gone once accepted', async () => {
  const [alice, bob] = [await t.agent('alice'), await t.agent('bob')];
  const asked = await t.api.call('requestContact', {
    token: alice.token,
    params: { address: bob.number },
    body: { note: 'I am the calendar assistant' },
    expect: 200,
  });
  expect(asked.body).toEqual({ ok: true, state: 'outgoing' });

  const contact = { number: alice.number, handle: 'alice', kind: 'agent', displayName: 'alice' };
  const note = 'I am the calendar assistant';
  expect(await seen(t, bob, alice)).toEqual({ ...contact, state: 'incoming', note });
  // Without view=full there is no text of others in the list.
  expect(await list(bob)).toEqual([
    { number: alice.number, handle: 'alice', kind: 'agent', state: 'incoming' },
  ]);

  await t.api.call('acceptContact', {
    token: bob.token,
    params: { address: '@alice' },
    body: {},
    expect: 200,
  });
  expect(await seen(t, bob, alice)).toEqual({ ...contact, state: 'friend' });
});

test('incoming requests come first, then everybody by handle', async () => {
  const me = await t.agent('lister');
  const names = ['order-a', 'order-b', 'order-c_1', 'order-c1', 'order-d'];
  const [friend, incoming, removed, outgoing, incoming2] = (await seedAgents(t, names)) as [
    TestAgent,
    TestAgent,
    TestAgent,
    TestAgent,
    TestAgent,
  ];
  await act(t, incoming2, 'request', me);
  await act(t, me, 'request', outgoing);
  await t.befriend(me, friend);
  await t.befriend(me, removed);
  await act(t, me, 'remove', removed);
  await act(t, incoming, 'request', me);
  expect((await list(me)).map(({ handle, state }) => `${handle} ${state}`)).toEqual([
    'order-b incoming',
    'order-d incoming',
    'order-a friend',
    'order-c1 outgoing',
    'order-c_1 removed',
  ]);
});

test('the list holds at most 200 contacts, and an incoming request is never among those left out', async () => {
  const [me, last] = (await seedAgents(t, ['popular', 'zz-last'])) as [TestAgent, TestAgent];
  const many = await agents(205);
  await t.database.pool.query(
    `INSERT INTO contacts (identity_id, peer_id, state)
     SELECT $1, id, 'friend' FROM unnest($2::uuid[]) AS id UNION ALL
     SELECT id, $1, 'friend' FROM unnest($2::uuid[]) AS id`,
    [me.id, many.map(({ id }) => id)],
  );
  await act(t, last, 'request', me);
  const contacts = await list(me);
  expect(contacts).toHaveLength(200);
  expect(contacts[0]).toMatchObject({ handle: 'zz-last', state: 'incoming' });
});

test('exactly 100 of 101 parallel requests pass; answers and withdrawals make room', async () => {
  const [me, ...others] = (await agents(103)) as [TestAgent, ...TestAgent[]];
  const asked = others.slice(0, 101);
  const results = await Promise.all(asked.map((other) => act(t, me, 'request', other)));
  expect(results.filter((result) => result === 'outgoing')).toHaveLength(100);
  expect(results.filter((result) => result === 'contact_request_limit')).toHaveLength(1);
  const pending = asked.filter((_, i) => results[i] === 'outgoing');
  const [first, second, third] = pending as [TestAgent, TestAgent, TestAgent];
  const refused = asked[results.indexOf('contact_request_limit')] as TestAgent;
  expect(await seen(t, refused, me)).toBeUndefined();

  // Asking again where a request is pending is no new one, and being asked costs nothing.
  expect(await act(t, me, 'request', first)).toBe('outgoing');
  expect(await act(t, others[101] as TestAgent, 'request', me)).toBe('outgoing');

  for (const makeRoom of [
    () => act(t, first, 'accept', me),
    () => act(t, second, 'reject', me),
    () => act(t, me, 'remove', third),
  ]) {
    const [next] = (await agents(1)) as [TestAgent];
    expect(await act(t, me, 'request', next)).toBe('contact_request_limit');
    await makeRoom();
    expect(await act(t, me, 'request', next)).toBe('outgoing');
  }
});

test('a disabled identity shows as unavailable and cannot be asked', async () => {
  const [me, friend, asker, blocked, stranger] = (await agents(5)) as [
    TestAgent,
    TestAgent,
    TestAgent,
    TestAgent,
    TestAgent,
  ];
  await t.befriend(me, friend);
  await act(t, asker, 'request', me);
  await act(t, me, 'block', blocked);
  for (const gone of [friend, asker, blocked, stranger]) await disable(t, gone);
  expect((await seen(t, me, friend))?.state).toBe('unavailable');
  expect((await seen(t, me, asker))?.state).toBe('unavailable');
  // A block of one's own stays visible, so that it can be lifted.
  expect((await seen(t, me, blocked))?.state).toBe('blocked');
  expect(await act(t, me, 'request', stranger)).toBe('contact_unavailable');
  await t.api.call('listContacts', { token: friend.token, expect: 401 });
});

test('a token limited to rooms, or without the contacts scope, changes no relationship', async () => {
  const [me, other] = await two();
  const restricted = await openToken(t, me, { roomIds: [] });
  const narrow = await openToken(t, me, { scopes: ['read', 'write', 'rooms'] });
  for (const verb of VERBS) {
    const path = `/v1/contacts/${other.number}/${verb}`;
    const one = await t.api.raw('POST', path, { token: restricted, body: {}, expect: 403 });
    expect(one.body).toMatchObject({ error: { code: 'room_restricted_token' } });
    const two = await t.api.raw('POST', path, { token: narrow, body: {}, expect: 403 });
    expect(two.body).toMatchObject({
      error: { code: 'insufficient_scope', details: { required: ['contacts'] } },
    });
  }
  expect(await list(other)).toEqual([]);
  await t.api.call('listContacts', { token: narrow, expect: 403 });
});
