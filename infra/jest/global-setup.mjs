import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import pino from 'pino';
import '../scripts/typescript-sources.mjs';

const database = '../../libs/kernel/src/database';
const { startEmbeddedPostgres } = await import(`${database}/embedded-postgres.ts`);
const { lockDataDir } = await import(`${database}/embedded/data-dir-lock.ts`);
const { clearOrphan } = await import(`${database}/embedded/orphan.ts`);
const { migrate } = await import(`${database}/migrate.ts`);

const root = path.resolve(import.meta.dirname, '../..');
const home = path.join(root, '.cache/test-databases');
const log = pino({ level: 'error' });

/** A directory this young may belong to a run that has not taken its lock yet. */
const JUST_STARTED_MS = 60_000;

let server;
let directory;

/** One server a run, one migrated database in it; test files copy that database (CREATE DATABASE … TEMPLATE). */
export default async function globalSetup() {
  await mkdir(home, { recursive: true });
  await removeLeftovers();
  directory = await mkdtemp(path.join(home, 'run-'));
  server = await startEmbeddedPostgres({
    dataDir: path.join(directory, 'postgres'),
    log,
    durable: false,
  });
  // Jest does not tear down when it is interrupted; a normal exit at least signals the server.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

  await migrate(server.url, path.join(root, 'prisma/migrations'), log);
  const template = new URL(server.url).pathname.slice(1);
  await onServer(async (client) => {
    // A single open connection to the template would make every CREATE DATABASE from it fail.
    await client.query(`ALTER DATABASE ${template} WITH ALLOW_CONNECTIONS false IS_TEMPLATE true`);
  });
  // Workers inherit the environment; infra/jest/environment.mjs passes it on to the tests.
  process.env.RELAYGER_TEST_SERVER = JSON.stringify({ url: adminUrl(), template });
}

/** Keeps the cluster when databases of failed tests are left in it, and says how to look into them. */
export async function stopServer() {
  if (!server) return;
  const kept = await onServer(async (client) => {
    const { rows } = await client.query(
      "SELECT datname FROM pg_database WHERE datname LIKE 't\\_%' ORDER BY 1",
    );
    return rows.map(({ datname }) => datname);
  });
  await server.stop();
  if (kept.length === 0 || process.env.CI) await rm(directory, { recursive: true, force: true });
  else {
    const where = path.relative(root, directory);
    console.log(`Kept for inspection until the next run: ${kept.join(', ')}`);
    console.log(`Open with: node infra/scripts/open-test-database.mjs ${where}`);
  }
}

/** Earlier runs that kept databases or were killed. Another run that is working right now holds its lock. */
async function removeLeftovers() {
  for (const name of await readdir(home)) {
    const leftover = path.join(home, name);
    const age = Date.now() - (await stat(leftover)).mtimeMs;
    if (age < JUST_STARTED_MS) continue;
    const dataDir = path.join(leftover, 'postgres');
    try {
      const unlock = lockDataDir(dataDir);
      await clearOrphan(dataDir, log);
      unlock();
    } catch {
      continue;
    }
    await rm(leftover, { recursive: true, force: true });
  }
}

async function onServer(work) {
  const client = new pg.Client({ connectionString: adminUrl() });
  await client.connect();
  return work(client).finally(() => client.end());
}

function adminUrl() {
  const url = new URL(server.url);
  url.pathname = '/postgres';
  return url.href;
}
