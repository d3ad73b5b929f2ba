import type { Logger } from '../log/logger.js';

interface PollerOptions {
  /** What the work is, for the log: 'sending mail'. */
  name: string;
  /** How often to look without being woken, in ms: for retries, and for what other processes have left behind. */
  everyMs: number;
  log: Logger;
}

/**
 * Runs work that waits in the database: when woken, and from time to time. At most one run at a time. The work
 * takes what it does under a lock of its own, so that several processes can poll for the same.
 */
export class Poller {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | null = null;
  private again = false;
  private stopped = false;

  /** @param work does what is due and answers whether there may be more */
  constructor(
    private readonly work: () => Promise<boolean>,
    private readonly options: PollerOptions,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.wake(), this.options.everyMs);
    this.wake();
  }

  /** There is something to do. Call it after COMMIT. */
  wake(): void {
    if (this.stopped) return;
    this.again = true;
    this.running ??= this.run();
  }

  /** Resolves when the run under way has ended; none begins after that. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.running;
  }

  private async run(): Promise<void> {
    const { log, name } = this.options;
    try {
      while (this.again && !this.stopped) {
        // Before the work looks: a wake while it looks makes it look again.
        this.again = false;
        if (await this.work()) this.again = true;
      }
    } catch (err) {
      // It is all in the database: the next look finds it again.
      log.warn({ err }, `${name} failed and will be tried again`);
    } finally {
      this.running = null;
    }
  }
}
