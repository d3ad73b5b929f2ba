import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { befriendPairs, createAgents, createGroup } from './agents.mjs';
import { root, startBare, startGenerator, startProduct } from './child-server.mjs';
import { parentOf } from './usage.mjs';

const PAIRS = 32;
/** Besides the one who sends. */
const GROUP = 50;

/**
 * Everything that is measured, on one PostgreSQL: the product, the bare server and its ceiling, the load generator,
 * and agents to play with. `cleanup` ends and removes all of it.
 */
export async function openStage({ waiters, profile }, cleanup, say) {
  const { createLogger, startEmbeddedPostgres } = await import('@relayger/kernel');
  // Not in /tmp, which may be memory: the product's default DATA_DIR lies in this directory as well.
  const home = path.join(root, '.cache');
  await mkdir(home, { recursive: true });
  const directory = await mkdtemp(path.join(home, 'bench-'));
  cleanup.add(() => rm(directory, { recursive: true, force: true }));

  say('starting PostgreSQL, the api and the bare server');
  const dataDir = path.join(directory, 'postgres');
  const postgres = await startEmbeddedPostgres({ dataDir, log: createLogger('error') });
  cleanup.add(() => postgres.stop());
  const bareUrl = new URL(postgres.url);
  bareUrl.pathname = '/bare';
  const database = new pg.Client({ connectionString: postgres.url });
  database.on('error', () => {});
  await database.connect();
  cleanup.add(() => database.end());
  await database.query('CREATE DATABASE bare');
  const { rows: settings } = await database.query(
    `SELECT name, setting FROM pg_settings
       WHERE name IN ('server_version', 'fsync', 'synchronous_commit', 'full_page_writes') ORDER BY name DESC`,
  );
  say(settings.map(({ name, setting }) => `${name} ${setting}`).join(', '));

  const bare = new pg.Client({ connectionString: bareUrl.href });
  bare.on('error', () => {});
  await bare.connect();
  cleanup.add(() => bare.end());
  // Files go here.
  const files = path.join(directory, 'data');
  await mkdir(files);
  const product = { databaseUrl: postgres.url, dataDir: files, profile };

  const started = (server) => {
    cleanup.add(() => server.stop());
    return server;
  };
  const stage = {
    product: started(await startProduct(product)),
    /** For what is written straight into the product's tables. */
    database,
    bare: started(await startBare(bareUrl.href)),
    trivial: started(await startBare()),
    ...started(startGenerator()),
    /** The server process that all database sessions are children of. */
    postmaster: parentOf(database.processID),
    async countMessages() {
      const { rows } = await database.query('SELECT count(*)::int AS count FROM messages');
      return rows[0].count;
    },
    /** A fresh process on the same data. */
    async restartProduct() {
      await stage.product.stop();
      stage.product = started(await startProduct(product));
    },
    /** Jobs for the bare server, all of them open; those of an earlier round go. */
    async fillBareJobs(count) {
      await bare.query('TRUNCATE jobs');
      await bare.query(
        'INSERT INTO jobs (id) SELECT gen_random_uuid() FROM generate_series(1, $1::int)',
        [count],
      );
      await bare.query('VACUUM ANALYZE jobs');
    },
  };

  const began = performance.now();
  const agents = await createAgents(database, 2 * PAIRS + 1 + GROUP + waiters);
  await befriendPairs(stage.product.port, agents);
  // Everyone has one part to play, so that nobody waits for news with a mailbox that another measure filled.
  stage.senders = agents.splice(0, 2 * PAIRS).filter(({ peer }) => peer);
  const [owner, ...members] = agents.splice(0, 1 + GROUP);
  stage.group = await createGroup(stage.product.port, owner, members);
  stage.waiters = agents;
  const took = ((performance.now() - began) / 1000).toFixed(1);
  say(`agents, contacts and conversations: ${took} s`);
  return stage;
}
