import { accessSync, constants } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { DatabaseStartupError } from '../startup-error.js';

/**
 * Makes this process the only one that may start, stop or repair the cluster: a second one must not mistake the
 * first one's PostgreSQL for an orphan and shut it down.
 *
 * The lock is the kernel's (fcntl, taken by SQLite on an empty file), not a file with a pid in it: it ends with the
 * process however that process dies, so there is nothing stale to judge and no recycled pid to be fooled by. Node has
 * no flock of its own. Keep the returned function reachable: a collected handle would close and release.
 */
export function lockDataDir(dataDir: string): () => void {
  const handle = open(dataDir);
  try {
    // The journal in memory: it would only be a second file that a killed process leaves behind.
    handle.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (cause) {
    handle.close();
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw unusable(dataDir, cause);
    throw new DatabaseStartupError(
      'data_dir_in_use',
      `Another Relayger process is running on ${dataDir}: stop it first, or give this one its own DATA_DIR.`,
      { cause },
    );
  }
  return () => {
    if (handle.isOpen) handle.close();
  };
}

const SQLITE_BUSY = 5;

function open(dataDir: string): DatabaseSync {
  try {
    const handle = new DatabaseSync(`${dataDir}.lock`);
    // A file that may only be read opens as well, but then EXCLUSIVE excludes nobody.
    accessSync(`${dataDir}.lock`, constants.W_OK);
    return handle;
  } catch (cause) {
    throw unusable(dataDir, cause);
  }
}

/** Almost always: an earlier start ran as root, this one does not. */
function unusable(dataDir: string, cause: unknown): DatabaseStartupError {
  const detail = cause instanceof Object && 'message' in cause ? cause.message : cause;
  return new DatabaseStartupError(
    'wrong_owner',
    `${dataDir}.lock cannot be written (${detail}): start Relayger as the user that owns the directory.`,
    { cause },
  );
}
