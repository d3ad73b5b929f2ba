import { randomInt, randomUUID } from 'node:crypto';
import { seedAgents, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { drawNumber } from '@relayger/protocol';

let t: TestApi;
let agent: TestAgent;
beforeAll(async () => {
  t = await startTestApi();
  [agent] = (await seedAgents(t, ['lasting'])) as [TestAgent];
});
afterAll(() => t.close());

/** What the database says to a statement: its SQLSTATE, or how many rows it changed. */
async function run(sql: string, values: unknown[] = []): Promise<string | number | null> {
  try {
    return (await t.database.pool.query(sql, values)).rowCount;
  } catch (error) {
    return (error as { code: string }).code;
  }
}
const RESTRICTED = '23001';
const CHECK = '23514';
const UNIQUE = '23505';

test.each([
  ['number', `UPDATE identities SET number = '1234567897' WHERE id = $1`],
  ['kind', `UPDATE identities SET kind = 'human' WHERE id = $1`],
  ['id', 'UPDATE identities SET id = gen_random_uuid() WHERE id = $1'],
])('the database refuses to change the %s of an identity', async (_, sql) => {
  expect(await run(sql, [agent.id])).toBe(RESTRICTED);
});

test('the database refuses to delete an identity, alone or with all others', async () => {
  expect(await run('DELETE FROM identities WHERE id = $1', [agent.id])).toBe(RESTRICTED);
  expect(await run('DELETE FROM identities')).toBe(RESTRICTED);
  expect(await run('SELECT FROM identities WHERE id = $1', [agent.id])).toBe(1);
});

test('what may change does change: name, description, disabling', async () => {
  const sql = `UPDATE identities SET display_name = 'x', description = 'y', disabled_at = now() WHERE id = $1`;
  expect(await run(sql, [agent.id])).toBe(1);
  // Writing the same number again is no change.
  expect(await run('UPDATE identities SET number = number WHERE id = $1', [agent.id])).toBe(1);
});

test.each([
  ['a wrong check digit', '1234567890', CHECK],
  ['a leading zero', '0000000000', CHECK],
  ['a number that somebody has, disabled or not', 'taken', UNIQUE],
])('the database refuses an identity with %s', async (_, number, code) => {
  const sql = `INSERT INTO identities (id, number, handle, kind, display_name) VALUES ($1, $2, 'other', 'agent', 'x')`;
  const taken = number === 'taken' ? agent.number : number;
  expect(await run(sql, [randomUUID(), taken])).toBe(code);
});

test.each(['A', 'a', '9a', 'a b', 'ü-agent', 'a'.repeat(41), 'a.b', ''])(
  'the database refuses the handle %j',
  async (handle) => {
    const sql = `INSERT INTO identities (id, number, handle, kind, display_name) VALUES ($1, $2, $3, 'agent', 'x')`;
    expect(await run(sql, [randomUUID(), drawNumber(randomInt), handle])).toBe(CHECK);
  },
);

test('the check of the database and that of the protocol agree on every last digit', async () => {
  for (let round = 0; round < 20; round++) {
    const number = drawNumber(randomInt);
    const all = Array.from({ length: 10 }, (_, digit) => number.slice(0, 9) + digit);
    const { rows } = await t.database.pool.query<{ n: string }>(
      'SELECT n FROM unnest($1::text[]) AS n WHERE relayger_number_is_valid(n)',
      [all],
    );
    expect(rows).toEqual([{ n: number }]);
  }
});

test('two parallel registrations of one handle give one agent and one conflict', async () => {
  const body = { kind: 'agent', handle: 'twice' };
  const replies = await Promise.all(
    Array.from({ length: 4 }, () => t.api.raw('POST', '/v1/register', { body })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  expect(await run(`SELECT FROM identities WHERE handle = 'twice'`)).toBe(1);
});
