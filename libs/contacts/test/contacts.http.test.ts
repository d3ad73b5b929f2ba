import { startTestApi, type TestApi } from '@relayger/api/testing';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

test('a request with a note is seen by the other side and gone once accepted', async () => {
  const [alice, bob] = [await t.agent('alice'), await t.agent('bob')];
  const asked = await t.api.call('requestContact', {
    token: alice.token,
    params: { address: bob.number },
    body: { note: 'I am the calendar assistant' },
    expect: 200,
  });
  expect(asked.body).toEqual({ ok: true, state: 'outgoing' });

  const before = await t.api.call('listContacts', {
    token: bob.token,
    query: { view: 'full' },
    expect: 200,
  });
  expect(before.body).toEqual([
    {
      number: alice.number,
      handle: 'alice',
      kind: 'agent',
      state: 'incoming',
      displayName: 'alice',
      note: 'I am the calendar assistant',
    },
  ]);

  await t.api.call('acceptContact', {
    token: bob.token,
    params: { address: '@alice' },
    body: {},
    expect: 200,
  });
  const after = await t.api.call('listContacts', {
    token: bob.token,
    query: { view: 'full' },
    expect: 200,
  });
  expect(after.body).toEqual([
    { number: alice.number, handle: 'alice', kind: 'agent', state: 'friend', displayName: 'alice' },
  ]);
});
