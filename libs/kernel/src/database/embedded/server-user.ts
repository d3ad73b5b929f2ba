import { execFile } from 'node:child_process';
import { lchown, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { DatabaseStartupError } from '../startup-error.js';

/** The account PostgreSQL runs under. PostgreSQL refuses to run as root. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
  /** False for an ordinary user, who simply runs everything as himself. */
  readonly switched: boolean;
}

/** How to start a program as the server user: `spawn(file, args, { uid, gid })`. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

export type Launcher = (program: string, args: readonly string[]) => Command;

/** Nothing else is inherited: a PGDATA, PGPORT or LANG of the shell must not change how the cluster is made or run. */
export const SERVER_ENV = { LC_ALL: 'C', TZ: 'UTC' };

/**
 * As root: the account that already owns the cluster, or else `postgres`, or else `nobody`. No account is created,
 * because a start must not change the machine outside DATA_DIR.
 */
export async function chooseServerUser(clusterOwner?: number): Promise<ServerUser> {
  const own = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 };
  if (own.uid !== 0) {
    if (clusterOwner === undefined || clusterOwner === own.uid) return { ...own, switched: false };
    throw new DatabaseStartupError(
      'wrong_owner',
      `The database files belong to user id ${clusterOwner} and Relayger runs as user id ${own.uid}: start it as that user or as root, or chown -R them.`,
    );
  }

  const accounts = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => {
      const [name, , uid, gid] = line.split(':');
      return { name, uid: Number(uid), gid: Number(gid) };
    });
  const chosen = clusterOwner
    ? accounts.find(({ uid }) => uid === clusterOwner)
    : ['postgres', 'nobody']
        .map((name) => accounts.find((account) => account.name === name))
        .find(Boolean);
  if (!chosen) {
    throw new DatabaseStartupError(
      'root_not_possible',
      clusterOwner
        ? `The database files belong to user id ${clusterOwner}, which this machine does not know: chown them to an existing ordinary user.`
        : 'PostgreSQL does not run as root and this machine has no user "postgres" or "nobody": start Relayger as an ordinary user.',
    );
  }
  return { uid: chosen.uid, gid: chosen.gid, switched: true };
}

/** Gives everything under `target` to the server user. For a new cluster, or one that root restored from a backup. */
export async function giveTo(user: ServerUser, target: string): Promise<void> {
  if (!user.switched) return;
  await lchown(target, user.uid, user.gid);
  const entries = await readdir(target, { withFileTypes: true, recursive: true }).catch(() => []);
  for (const entry of entries)
    await lchown(path.join(entry.parentPath, entry.name), user.uid, user.gid);
}

/**
 * Decides how programs are started as `user`, by trying it: the kernel knows about modes, ACLs and mount options, a
 * check of our own would not. Plain setuid is the first choice. When a directory above the clone or DATA_DIR is
 * closed to the user (`/root` is 0700), the second is setuid that keeps one single capability, the right to pass
 * directories.
 */
export async function findLauncher(
  user: ServerUser,
  postgres: string,
  dataDir: string,
): Promise<Launcher> {
  const plain: Launcher = (file, args) => ({ file, args });
  if (!user.switched) return plain;
  const candidates: Launcher[] = [
    (file, args) => ({ file, args, uid: user.uid, gid: user.gid }),
    (file, args) => ({ file: 'setpriv', args: [...keepDirectoryAccess(user), file, ...args] }),
  ];
  for (const launch of candidates) {
    const probe = launch('/bin/sh', [
      '-c',
      'cd "$1" && exec "$2" --version',
      'sh',
      dataDir,
      postgres,
    ]);
    const options = { uid: probe.uid, gid: probe.gid };
    const works = await promisify(execFile)(probe.file, probe.args, options).then(
      () => true,
      () => false,
    );
    if (works) return launch;
  }
  throw new DatabaseStartupError(
    'root_not_possible',
    `PostgreSQL does not run as root, and user id ${user.uid} cannot reach ${dataDir} or ${postgres}: start Relayger as an ordinary user, or move both out of directories that only root may enter.`,
  );
}

/**
 * `no_setuid_fixup` matters: PostgreSQL checks its own binary with access(2), which for a non-root real uid ignores
 * capabilities unless that bit is set ("invalid binary: Permission denied"). DAC_OVERRIDE and not the narrower
 * DAC_READ_SEARCH, because containers are given only the former by default, and because the latter does not execute
 * files of a clone made under umask 077.
 */
const keepDirectoryAccess = (user: ServerUser) => [
  `--reuid=${user.uid}`,
  `--regid=${user.gid}`,
  '--clear-groups',
  '--securebits=+no_setuid_fixup',
  '--inh-caps=+dac_override',
  '--ambient-caps=+dac_override',
  '--bounding-set=-all,+dac_override',
  '--',
];
