import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { DatabaseStartupError } from '../startup-error.js';
import type { PostgresBinaries } from './binaries.js';
import {
  chooseServerUser,
  findLauncher,
  giveTo,
  type Launcher,
  SERVER_ENV,
  type ServerUser,
} from './server-user.js';

/** The bootstrap role. The server listens on loopback only, and its password is known to DATA_DIR's owner alone. */
export const SUPERUSER = 'relayger';

export interface Cluster {
  readonly launch: Launcher;
  readonly password: string;
}

/** Opens the cluster in `dataDir`, after refusing one that this build or this user cannot run; creates it if absent. */
export async function openCluster(
  dataDir: string,
  binaries: PostgresBinaries,
  durable: boolean,
): Promise<Cluster> {
  const owner = (await stat(dataDir).catch(ignoreMissing))?.uid;
  const user = await chooseServerUser(owner);
  const isNew = owner === undefined || (await readdir(dataDir)).length === 0;
  if (isNew) return createCluster(dataDir, binaries, user, durable);
  if (user.switched && owner !== user.uid) await giveTo(user, dataDir);
  return openExisting(dataDir, binaries, user);
}

async function openExisting(
  dataDir: string,
  binaries: PostgresBinaries,
  user: ServerUser,
): Promise<Cluster> {
  const version = await readFile(path.join(dataDir, 'PG_VERSION'), 'utf8').catch(ignoreMissing);
  if (version === undefined) {
    throw new DatabaseStartupError(
      'not_a_cluster',
      `${dataDir} holds files that are not a PostgreSQL cluster: move them away, or use another DATA_DIR.`,
    );
  }
  if (version.trim() !== binaries.major) {
    throw new DatabaseStartupError(
      'wrong_major_version',
      `${dataDir} was written by PostgreSQL ${version.trim()} and this build brings PostgreSQL ${binaries.major}: start the build that wrote it and move the data with pg_dump, or use another DATA_DIR.`,
    );
  }
  const password = await readFile(passwordFile(dataDir), 'utf8').catch(ignoreMissing);
  if (password === undefined) {
    throw new DatabaseStartupError(
      'password_missing',
      `${passwordFile(dataDir)} is missing: restore it from the same backup as ${dataDir}.`,
    );
  }
  return { launch: await findLauncher(user, binaries.postgres, dataDir), password };
}

/**
 * initdb works in a directory of its own, which gets its name by a rename at the end: a process killed half way leaves
 * no cluster that looks complete. The directory's name is random because an initdb whose parent was killed goes on
 * writing for a second, and must not write into its successor's.
 */
async function createCluster(
  dataDir: string,
  binaries: PostgresBinaries,
  user: ServerUser,
  durable: boolean,
): Promise<Cluster> {
  await removeUnfinished(dataDir);
  const staging = await mkdtemp(`${dataDir}${STAGING}`);
  await giveTo(user, staging);

  const password = randomBytes(24).toString('base64url');
  await rm(passwordFile(dataDir), { force: true });
  await writeFile(passwordFile(dataDir), password, { mode: 0o600, flag: 'wx' });
  await giveTo(user, passwordFile(dataDir));

  const launch = await findLauncher(user, binaries.postgres, staging);
  await initdb(launch, [
    binaries.initdb,
    `--pgdata=${staging}`,
    `--pwfile=${passwordFile(dataDir)}`,
    ...(durable ? [] : ['--no-sync']),
  ]);
  await rename(staging, dataDir);
  if (durable) await syncDirectory(path.dirname(dataDir));
  return { launch, password };
}

async function initdb(launch: Launcher, [program, ...own]: [string, ...string[]]): Promise<void> {
  const { file, args, uid, gid } = launch(program, [
    ...own,
    `--username=${SUPERUSER}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The builtin provider sorts and folds the same on every system; libc's locales differ and change with upgrades.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]);
  try {
    await promisify(execFile)(file, args, { uid, gid, env: SERVER_ENV });
  } catch (cause) {
    const output = (cause as { stderr?: string }).stderr || String(cause);
    const line = output.trim().replaceAll('\n', ' | ');
    throw new DatabaseStartupError(
      'server_failed',
      `The embedded PostgreSQL could not be created: ${line}`,
      { cause },
    );
  }
}

async function removeUnfinished(dataDir: string): Promise<void> {
  const parent = path.dirname(dataDir);
  const prefix = `${path.basename(dataDir)}${STAGING}`;
  const unfinished = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  // Retried because the initdb of a killed start may still be adding files; it gives up when they vanish.
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 20 };
  for (const name of unfinished) await rm(path.join(parent, name), options);
}

const STAGING = '.init-';
/** Readable for the owner of DATA_DIR only: whoever can read it may do anything to the database. */
export const passwordFile = (dataDir: string) => `${dataDir}.password`;

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}

/** The rename itself must survive a power cut: everything acknowledged from now on lives behind that name. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}
