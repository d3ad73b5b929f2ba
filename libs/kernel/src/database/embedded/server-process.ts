import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { DatabaseStartupError } from '../startup-error.js';
import { freePort } from './free-port.js';
import { type Launcher, SERVER_ENV } from './server-user.js';
import { shutDown } from './shutdown.js';

export interface ServerProcess {
  readonly port: number;
  /** Settles with how it ended, wanted or not. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly postgres: string;
  readonly dataDir: string;
  readonly launch: Launcher;
  readonly settings: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** A free one when left out. */
  readonly port?: number;
}

/** Crash recovery replays at most max_wal_size (1 GB by default) of WAL; well under this on a laptop disk. */
const READY_TIMEOUT_MS = 180_000;
const READY_POLL_MS = 20;
const RETRY_PAUSE_MS = 100;
const RETRIES = 50;

/**
 * Failures that pass by themselves: another program took the port between our choice and the bind, or backends of a
 * killed server are still on their way out (they notice within milliseconds and hold its shared memory until then).
 */
const TRANSIENT = /could not bind|pre-existing shared memory block/;

export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  for (let attempt = 1; ; attempt++) {
    const server = await launchServer(options);
    const failure = await server.ready();
    if (failure === undefined) return server;
    await server.stop();
    if (attempt > RETRIES || !TRANSIENT.test(failure)) {
      throw new DatabaseStartupError(
        'server_failed',
        `The embedded PostgreSQL did not start: ${failure}`,
      );
    }
    await sleep(RETRY_PAUSE_MS);
  }
}

async function launchServer(options: ServerOptions) {
  const { postgres, dataDir, launch, settings, log } = options;
  const port = options.port ?? (await freePort());
  const settingArgs = Object.entries(settings).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  // `-D <dir>` stays first: the orphan check recognises a server of ours by it.
  const { file, args, uid, gid } = launch(postgres, [
    '-D',
    dataDir,
    '-p',
    String(port),
    ...settingArgs,
  ]);
  const child = spawn(file, args, {
    uid,
    gid,
    env: SERVER_ENV,
    stdio: ['ignore', 'ignore', 'pipe'],
    // A session of its own: Ctrl+C goes to the terminal's whole process group, and the database must outlive the
    // requests that Node is still finishing.
    detached: true,
  });
  const closed = whenClosed(child);
  const tail = forwardLog(child, log);
  const isGone = () =>
    child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  let serving = false;
  let stopping: Promise<void> | undefined;

  // The last resort when the process ends without stop(), for example by process.exit(). Handlers of 'exit' cannot
  // wait, but the signal is enough. It also keeps this closure, and with it the child, reachable.
  const signalAtExit = () => child.kill('SIGINT');
  process.once('exit', signalAtExit);
  void closed.then((outcome) => {
    process.off('exit', signalAtExit);
    if (serving && !stopping)
      log.error({ outcome, lastLines: tail() }, 'the database server stopped by itself');
  });

  return {
    port,
    ended: closed,
    /** Resolves with undefined, or with the reason why it did not come up. */
    async ready(): Promise<string | undefined> {
      for (
        const deadline = Date.now() + READY_TIMEOUT_MS;
        Date.now() < deadline;
        await sleep(READY_POLL_MS)
      ) {
        if (isGone()) {
          const outcome = await closed;
          return tail().join(' | ') || outcome;
        }
        serving = await announcesReady(dataDir, child.pid);
        if (serving) return undefined;
      }
      return `not ready after ${READY_TIMEOUT_MS / 1000} s: ${tail().join(' | ')}`;
    },
    stop(): Promise<void> {
      stopping ??= isGone() ? Promise.resolve() : shutDown(child.pid as number, isGone, log);
      return stopping;
    },
  };
}

/** The postmaster writes its state into line 8 of its pid file; pg_ctl waits for the same word. */
async function announcesReady(dataDir: string, pid: number | undefined): Promise<boolean> {
  const content = await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = content.split('\n');
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
}

/** How it ended. 'close' and not 'exit', because it comes after the last line of the log has been read. */
function whenClosed(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(signal ? `ended by ${signal}` : `exit code ${code}`),
    );
  });
}

const TAIL_LINES = 6;
/** Not ERROR: most of those are expected, such as a handle that is taken, and the caller gets every one anyway. */
const NOTEWORTHY = /^\d+ (WARNING|FATAL|PANIC):/;

/** Sends each line of the server's log to ours, and keeps the last ones for the message of a failed start. */
function forwardLog(child: ChildProcess, log: Logger): () => string[] {
  const last: string[] = [];
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      last.push(line);
      if (last.length > TAIL_LINES) last.shift();
      if (NOTEWORTHY.test(line)) log.warn({ source: 'postgres' }, line);
      else log.debug({ source: 'postgres' }, line);
    });
  }
  return () => [...last];
}
