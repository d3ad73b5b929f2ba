import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { shutDown } from './shutdown.js';

/**
 * Cleans up after a Relayger process that died without stopping its PostgreSQL (kill -9, out of memory). The caller
 * holds the data directory's lock, so a server found here belongs to nobody; it is stopped rather than adopted, since
 * its log pipe is gone and it is no child of ours.
 */
export async function clearOrphan(dataDir: string, log: Logger): Promise<void> {
  const pidFile = path.join(dataDir, 'postmaster.pid');
  const content = await readFile(pidFile, 'utf8').catch(() => undefined);
  if (content === undefined) return;
  const pid = Number.parseInt(content, 10);

  if (await isPostmaster(pid, dataDir)) {
    log.warn({ pid }, 'stopping the database server that an earlier process left behind');
    await shutDown(pid, async () => !(await isPostmaster(pid, dataDir)), log);
    return;
  }
  if (isAlive(pid)) await markStale(pidFile, content);
}

/** A pid proves nothing, it may be anybody's by now. The command line names both the program and the directory. */
async function isPostmaster(pid: number, dataDir: string): Promise<boolean> {
  return (await commandLine(pid)).includes(`/postgres -D ${dataDir} `);
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    const raw = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return raw.replaceAll('\0', ' ');
  }
  const ps = promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  return ps.then(
    ({ stdout }) => stdout,
    () => '',
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * The recorded pid now belongs to another program, and PostgreSQL would refuse to start beside it. Deleting the file
 * would also delete the record of the shared memory segment, which is what stops a second server while backends of
 * the first still write. PostgreSQL ignores a pid that is its own parent's, so we put ours there and keep the rest.
 */
async function markStale(pidFile: string, content: string): Promise<void> {
  await writeFile(pidFile, content.replace(/^\d+/, String(process.pid)));
}
