import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/**
 * PostgreSQL's own escalation. Fast (SIGINT): roll back, checkpoint, exit. Immediate (SIGQUIT): exit now, the next
 * start replays the WAL. Neither loses a commit. The sum stays below the 30 s that container runtimes usually grant.
 */
const SHUTDOWN = [
  { signal: 'SIGINT', patienceMs: 15_000 },
  { signal: 'SIGQUIT', patienceMs: 5_000 },
  { signal: 'SIGKILL', patienceMs: 2_000 },
] as const;

const POLL_MS = 20;

/** Stops a server and returns when `isGone` says so, at the latest after the last step's patience. */
export async function shutDown(
  pid: number,
  isGone: () => boolean | Promise<boolean>,
  log: Logger,
): Promise<void> {
  for (const { signal, patienceMs } of SHUTDOWN) {
    if (await isGone()) return;
    if (signal !== 'SIGINT')
      log.warn({ pid, signal }, 'the database server does not stop, asking harder');
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It may have exited on its own between the check and the signal.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline; ) {
      if (await isGone()) return;
      await sleep(POLL_MS);
    }
  }
}
