const WINDOW_MS = 3_600_000;

/**
 * Failures per client in this process, in fixed windows of an hour. Cheap to ask, so it stands before
 * everything that costs something. One window for everybody: forgetting all counts at once bounds the memory.
 */
export class FailureQuota {
  private failures = new Map<string, number>();
  private startedAt: number;

  constructor(
    private readonly limit: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.startedAt = now();
  }

  /** Seconds until the client may try again; null when it may now. */
  usedUp(client: string): number | null {
    const left = this.startedAt + WINDOW_MS - this.now();
    if (left <= 0) {
      this.failures = new Map();
      this.startedAt = this.now();
    }
    const isOver = (this.failures.get(client) ?? 0) >= this.limit;
    return isOver ? Math.max(1, Math.ceil(left / 1000)) : null;
  }

  add(client: string): void {
    this.failures.set(client, (this.failures.get(client) ?? 0) + 1);
  }
}
