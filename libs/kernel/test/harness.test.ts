import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import pg from 'pg';

let one: TestDatabase;
let other: TestDatabase;

beforeAll(async () => {
  [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});

afterAll(() => Promise.all([one.drop(), other.drop()]));

async function count(database: TestDatabase, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rowCount } = await client.query(sql).finally(() => client.end());
  return rowCount ?? 0;
}

test('every database is migrated, and nobody else sees what happens in it', async () => {
  const history = 'SELECT FROM _prisma_migrations';
  expect(await count(one, history)).toBeGreaterThan(0);
  await count(one, 'DELETE FROM _prisma_migrations');
  expect(await count(one, history)).toBe(0);
  expect(await count(other, history)).toBeGreaterThan(0);
});

test('other machines cannot be reached, this one can', async () => {
  for (const url of ['http://192.0.2.1/', 'https://example.com/']) {
    await expect(fetch(url)).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/Tests have no outbound network/) },
    });
  }
  const server = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost']) {
    expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe('here');
  }
  server.closeAllConnections();
  server.close();
});
