import { mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { Logger } from 'pino';
import { findPostgresBinaries } from './embedded/binaries.js';
import { openCluster, SUPERUSER } from './embedded/cluster.js';
import { lockDataDir } from './embedded/data-dir-lock.js';
import { clearOrphan } from './embedded/orphan.js';
import { startSupervisedServer } from './embedded/supervised-server.js';
import { DatabaseStartupError } from './startup-error.js';

export interface EmbeddedPostgresOptions {
  /** The cluster itself. `<dataDir>.password` and `<dataDir>.lock` are kept beside it. */
  readonly dataDir: string;
  readonly log: Logger;
  /** False trades crash safety for speed; for tests only. */
  readonly durable?: boolean;
}

export interface EmbeddedPostgres {
  readonly url: string;
  /** Fast shutdown. Idempotent, and bounded in time. */
  stop(): Promise<void>;
}

export const DATABASE = 'relayger';

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // No socket file: its path is limited to 107 bytes, and DATA_DIR may be deeper than that.
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%p ',
  // DETAIL and STATEMENT lines quote rows and parameters, that is messages and token hashes. The client still gets them.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * Runs the PostgreSQL that npm installed on `dataDir`: creates the cluster on the first start, and cleans up after a
 * process that was killed on a later one. Refusals are `DatabaseStartupError`s.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { log, durable = true } = options;
  if (process.platform === 'win32') {
    throw new DatabaseStartupError(
      'no_binaries',
      'The embedded PostgreSQL does not run on Windows: use WSL, or set DATABASE_URL to a PostgreSQL of your own.',
    );
  }
  const parent = path.dirname(path.resolve(options.dataDir));
  await mkdir(parent, { recursive: true }).catch((cause: unknown) => {
    throw new DatabaseStartupError('wrong_owner', `${parent} cannot be created: ${String(cause)}`, {
      cause,
    });
  });
  // One spelling of the path, so that a server started through a symlink is recognised later.
  const dataDir = path.join(await realpath(parent), path.basename(options.dataDir));

  const unlock = lockDataDir(dataDir);
  try {
    const binaries = await findPostgresBinaries();
    const { launch, password } = await openCluster(dataDir, binaries, durable);
    await clearOrphan(dataDir, log);
    const settings = durable ? SETTINGS : { ...SETTINGS, ...NOT_DURABLE };
    const server = await startSupervisedServer({
      postgres: binaries.postgres,
      dataDir,
      launch,
      settings,
      log,
    });
    const urlOf = (database: string) =>
      `postgresql://${SUPERUSER}:${password}@127.0.0.1:${server.port}/${database}`;
    const stop = async () => {
      await server.stop();
      unlock();
    };
    try {
      await ensureDatabase(urlOf('postgres'));
    } catch (error) {
      await stop();
      throw error;
    }
    return { url: urlOf(DATABASE), stop };
  } catch (error) {
    unlock();
    throw error;
  }
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [
      DATABASE,
    ]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}
