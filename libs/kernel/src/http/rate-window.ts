const WINDOW_MS = 60_000;

export interface RateState {
  limit: number;
  remaining: number;
  /** Seconds until the window starts anew. */
  reset: number;
  exceeded: boolean;
}

/** Fixed one-minute windows per identity, in this process (contract/http.md section 0). */
export class RateWindow {
  private counts = new Map<string, number>();
  private startedAt = 0;

  constructor(
    private readonly limit: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts one request of an identity. */
  hit(identityId: string): RateState {
    const now = this.now();
    // One window for everybody: forgetting all counts at once keeps the memory bounded without a sweep.
    if (now - this.startedAt >= WINDOW_MS) {
      this.counts = new Map();
      this.startedAt = now - ((now - this.startedAt) % WINDOW_MS);
    }
    const count = (this.counts.get(identityId) ?? 0) + 1;
    this.counts.set(identityId, count);
    return {
      limit: this.limit,
      remaining: Math.max(0, this.limit - count),
      reset: Math.max(1, Math.ceil((this.startedAt + WINDOW_MS - now) / 1000)),
      exceeded: count > this.limit,
    };
  }
}
