import { randomBytes } from 'node:crypto';
import path from 'node:path';
import pg from 'pg';

/** What infra/jest/environment.mjs puts into every test file's global scope. */
interface TestRun {
  readonly server: { readonly url: string; readonly template: string };
  readonly file: string;
  readonly failed: boolean;
}

export interface TestDatabase {
  readonly url: string;
  /** Call it in `afterAll`. Keeps the database when a test of this file failed, for a look at its rows. */
  drop(failed?: boolean): Promise<void>;
}

/** A migrated database of its own for the calling test file: a copy of the run's template (about 40 ms). */
export async function createTestDatabase(): Promise<TestDatabase> {
  const run = currentRun();
  const name = databaseName(run.file);
  await onServer(run, `CREATE DATABASE ${name} TEMPLATE ${run.server.template}`);
  const url = new URL(run.server.url);
  url.pathname = name;
  return {
    url: url.href,
    async drop(failed = run.failed) {
      // FORCE, so that a pool somebody forgot to close does not hide the result of the tests.
      if (!failed) await onServer(run, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

function currentRun(): TestRun {
  const { relaygerTest } = globalThis as { relaygerTest?: TestRun };
  if (!relaygerTest)
    throw new Error(
      'createTestDatabase() works in tests run by the jest.config.mjs of this repository',
    );
  return relaygerTest;
}

/** `libs/rooms/test/http/members.test.ts` → `t_rooms_http_members_3f9a`, at most PostgreSQL's 63 bytes. */
function databaseName(file: string): string {
  const [lib = '', ...rest] = file
    .split(path.sep)
    .slice(-5)
    .join('/')
    .replace(/^.*(?:libs|apps)\//, '')
    .split('/');
  const words = [lib, ...rest.filter((part) => part !== 'test')]
    .join('_')
    .replace(/\.test\.ts$/, '');
  const slug = words
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 50);
  return `t_${slug}_${randomBytes(3).toString('hex')}`;
}

async function onServer(run: TestRun, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: run.server.url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
