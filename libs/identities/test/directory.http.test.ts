import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { UpdateProfileRequest } from '@relayger/protocol';

let t: TestApi;
beforeEach(async () => {
  t = await startTestApi();
});
afterEach(() => t.close());

async function listed(handle: string, profile: UpdateProfileRequest = {}): Promise<TestAgent> {
  const agent = await t.agent(handle);
  const body = { listed: true, ...profile };
  await t.api.call('updateProfile', { token: agent.token, body, expect: 200 });
  return agent;
}

async function handles(query: Record<string, string> = {}): Promise<string[]> {
  const { body } = await t.api.call('listDirectory', { query, expect: 200 });
  return body.agents.map(({ handle }) => handle);
}

test('shows active agents that chose it, and nothing but their profile', async () => {
  const beta = await listed('beta', { displayName: 'Beta', description: 'Second' });
  await listed('alpha', { capabilities: ['reports'] });
  await t.agent('hidden');
  const left = await listed('left');
  await t.api.call('updateProfile', { token: left.token, body: { listed: false }, expect: 200 });
  const [disabled, human] = [await listed('disabled'), await listed('person')];
  const { prisma, pool } = t.database;
  await prisma.identity.update({ where: { id: disabled.id }, data: { disabledAt: new Date() } });
  await pool.query('ALTER TABLE identities DISABLE TRIGGER identities_permanent');
  await prisma.identity.update({ where: { id: human.id }, data: { kind: 'human' } });

  const { body } = await t.api.call('listDirectory', { query: {}, expect: 200 });
  expect(body.next).toBeNull();
  expect(body.agents.map(({ handle }) => handle)).toEqual(['alpha', 'beta']);
  expect(body.agents[1]).toEqual({
    number: beta.number,
    handle: 'beta',
    displayName: 'Beta',
    description: 'Second',
    capabilities: [],
  });
});

test('pages hold 24 and follow each other by handle', async () => {
  await t.database.pool.query(
    `INSERT INTO identities (id, number, handle, kind, display_name, listed)
     SELECT gen_random_uuid(), number, 'agent-' || lpad(place::text, 2, '0'), 'agent', 'x', true
       FROM (SELECT number::text, row_number() OVER () AS place
               FROM generate_series(1000000000, 1000001000) AS number
              WHERE relayger_number_is_valid(number::text) LIMIT 50) AS numbers`,
  );
  const pages: string[][] = [];
  for (let after: string | undefined; ; ) {
    const { body } = await t.api.call('listDirectory', { query: { after }, expect: 200 });
    pages.push(body.agents.map(({ handle }) => handle));
    if (body.next === null) break;
    expect(body.next).toBe(pages.at(-1)?.at(-1));
    after = body.next;
  }
  expect(pages.map((page) => page.length)).toEqual([24, 24, 2]);
  expect(new Set(pages.flat()).size).toBe(50);
  expect(pages.flat()).toEqual(pages.flat().toSorted());
});

test('a page that is exactly full has no next one', async () => {
  await t.database.pool.query(
    `INSERT INTO identities (id, number, handle, kind, display_name, listed)
     SELECT gen_random_uuid(), number::text, 'agent-' || number, 'agent', 'x', true
       FROM generate_series(1000000000, 1000001000) AS number
      WHERE relayger_number_is_valid(number::text) LIMIT 24`,
  );
  const { body } = await t.api.call('listDirectory', { query: {}, expect: 200 });
  expect(body.agents).toHaveLength(24);
  expect(body.next).toBeNull();
});

test('q looks at handle, name, description and labels; capability is a whole label', async () => {
  await listed('by-handle');
  await listed('one', { displayName: 'Finds Invoices' });
  await listed('two', { description: '100 % of invoices_paid' });
  await listed('three', { capabilities: ['invoices', 'reports'] });
  await listed('four', { capabilities: ['invoices.v2'] });

  expect(await handles({ q: 'HANDLE' })).toEqual(['by-handle']);
  expect(await handles({ q: 'invoices' })).toEqual(['four', 'one', 'three', 'two']);
  expect(await handles({ capability: 'invoices' })).toEqual(['three']);
  expect(await handles({ capability: 'reports', q: 'invoice' })).toEqual(['three']);
  expect(await handles({ capability: 'report' })).toEqual([]);
  // Not patterns: these characters are looked for.
  expect(await handles({ q: '0 %' })).toEqual(['two']);
  expect(await handles({ q: 's_p' })).toEqual(['two']);
  expect(await handles({ q: '%' })).toEqual(['two']);
  expect(await handles({ q: 'invoices', after: 'one' })).toEqual(['three', 'two']);
});

test.each([
  { q: '' },
  { q: 'a\nb' },
  { q: 'x'.repeat(101) },
  { capability: 'Upper' },
  { after: '@alpha' },
  { page: '2' },
])('a malformed query is refused: %j', async (query) => {
  const refused = await t.api.call('listDirectory', { query, expect: 400 });
  expect(refused.body.error.code).toBe('invalid_request');
});
