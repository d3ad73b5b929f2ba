import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import pg from 'pg';
import pino from 'pino';
import { migrate } from '../src/database/migrate.js';
import type { DatabaseStartupReason } from '../src/database/startup-error.js';

const log = pino({ level: 'silent' });
let database: TestDatabase;
let client: pg.Client;
let migrations: string;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

beforeEach(async () => {
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  migrations = await mkdtemp(path.join(os.tmpdir(), 'relayger-migrations-'));
  await write('20260101000000_first', 'CREATE TABLE steps (n int); INSERT INTO steps VALUES (1);');
});

afterEach(() => rm(migrations, { recursive: true }));

async function write(name: string, sql: string) {
  await mkdir(path.join(migrations, name), { recursive: true });
  await writeFile(path.join(migrations, name, 'migration.sql'), sql);
}

const run = () => migrate(database.url, migrations, log);
const steps = async () => (await client.query('SELECT n FROM steps')).rows.map(({ n }) => n);
const refused = (reason: DatabaseStartupReason, message: RegExp) =>
  expect(run()).rejects.toMatchObject({ reason, message: expect.stringMatching(message) });

test('applies in the order of names, once', async () => {
  await write('20260301000000_third', 'INSERT INTO steps VALUES (3);');
  await write('20260201000000_second', 'INSERT INTO steps VALUES (2);');
  expect((await run()).applied).toEqual([
    '20260101000000_first',
    '20260201000000_second',
    '20260301000000_third',
  ]);
  expect(await steps()).toEqual([1, 2, 3]);
  expect((await run()).applied).toEqual([]);
  expect(await steps()).toEqual([1, 2, 3]);
});

test('two processes that start together apply everything once', async () => {
  await write('20260201000000_slow', 'SELECT pg_sleep(0.3); INSERT INTO steps VALUES (2);');
  const results = await Promise.all([run(), run(), run()]);
  expect(results.flatMap(({ applied }) => applied).sort()).toEqual([
    '20260101000000_first',
    '20260201000000_slow',
  ]);
  expect(await steps()).toEqual([1, 2]);
});

test('a failing migration leaves nothing behind and says where it failed', async () => {
  await write(
    '20260201000000_broken',
    'INSERT INTO steps VALUES (2);\n\nINSERT INTO nowhere VALUES (3);',
  );
  await refused('migration_failed', /20260201000000_broken .*"nowhere".*\(line 3\)/);
  expect(await steps()).toEqual([1]);

  await write('20260201000000_broken', 'INSERT INTO steps VALUES (2);');
  expect((await run()).applied).toEqual(['20260201000000_broken']);
});

test('functions and triggers are sent whole', async () => {
  await write(
    '20260201000000_function',
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'no; never'; END $$;
     CREATE TRIGGER t BEFORE DELETE ON steps FOR EACH ROW EXECUTE FUNCTION refuse();`,
  );
  await run();
  await expect(client.query('DELETE FROM steps')).rejects.toThrow('no; never');
});

test('refuses an applied migration whose file has changed', async () => {
  await run();
  await write('20260101000000_first', 'CREATE TABLE steps (n bigint);');
  await refused('migration_changed', /20260101000000_first was changed/);
});

test('refuses a database that a newer build has migrated', async () => {
  const older = await mkdtemp(path.join(os.tmpdir(), 'relayger-older-'));
  await cp(migrations, older, { recursive: true });
  await write('20260201000000_newer', 'SELECT 1;');
  await run();
  await rm(migrations, { recursive: true });
  migrations = older;
  await refused('migration_unknown', /20260201000000_newer.*newer Relayger/);
});

test("refuses a migration that Prisma's engine marked as failed, until it is resolved", async () => {
  await run();
  await client.query('UPDATE _prisma_migrations SET finished_at = NULL');
  await refused('migration_failed', /20260101000000_first is marked as failed/);

  await client.query('DROP TABLE steps; UPDATE _prisma_migrations SET rolled_back_at = now()');
  expect((await run()).applied).toEqual(['20260101000000_first']);
});
