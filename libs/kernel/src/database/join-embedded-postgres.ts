import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { passwordFile, SUPERUSER } from './embedded/cluster.js';
import {
  DATABASE,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded-postgres.js';
import { DatabaseStartupError } from './startup-error.js';

/**
 * The database in `dataDir` for a tool that works beside the service: the running one where the service runs,
 * otherwise one that runs as long as the tool does. The lock of the directory decides, so neither can stop the
 * other's server. Refusals are `DatabaseStartupError`s.
 */
export async function joinEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres(options);
  } catch (error) {
    const isRunning = error instanceof DatabaseStartupError && error.reason === 'data_dir_in_use';
    if (!isRunning) throw error;
    return { url: await runningUrl(options.dataDir), stop: async () => undefined };
  }
}

/** From what the postmaster writes into its pid file: line 4 is the port, line 8 its state. */
async function runningUrl(dataDir: string): Promise<string> {
  const pidFile = await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = pidFile.split('\n');
  const port = lines[3];
  if (!port || lines[7]?.trim() !== 'ready') {
    throw new DatabaseStartupError(
      'data_dir_in_use',
      `The service on ${dataDir} is starting or stopping: try again in a moment.`,
    );
  }
  const password = await readFile(passwordFile(dataDir), 'utf8').catch((cause: unknown) => {
    throw new DatabaseStartupError(
      'wrong_owner',
      `${passwordFile(dataDir)} cannot be read: run this as the user that owns the directory.`,
      { cause },
    );
  });
  return `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${DATABASE}`;
}
