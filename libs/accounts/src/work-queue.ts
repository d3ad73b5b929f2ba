import { fail } from '@relayger/protocol';

interface WorkQueueOptions {
  /** Most jobs at the same time. */
  running: number;
  /** Most jobs that wait for their turn; the next one is refused. */
  waiting: number;
}

/** Runs costly jobs a few at a time, first come first served, and refuses work that it could only delay. */
export class WorkQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limits: WorkQueueOptions) {}

  /** @throws RelaygerError `unavailable` when the queue is full */
  async run<T>(job: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await job();
    } finally {
      this.leave();
    }
  }

  private enter(): Promise<void> | void {
    if (this.running < this.limits.running) {
      this.running++;
      return;
    }
    if (this.waiting.length >= this.limits.waiting) fail('unavailable', { retryAfter: 1 });
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Hands the place to the next in line rather than freeing it, so that no newcomer overtakes. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.running--;
  }
}
