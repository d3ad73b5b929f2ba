import { type Follower, Subscription } from './subscription.js';

/**
 * Who waits for what, in this process. Topics are `identity:<id>`, `room:<id>` and `runtime:<id>`. A wake says
 * only "look again": all state is read from the database, so a wake may come too often, and one that is lost
 * costs time but never a message.
 */
export class WakeHub {
  private readonly topics = new Map<string, Set<Waiter | Subscription>>();
  private readonly waiters = new Set<Waiter>();
  private readonly subscriptions = new Set<Subscription>();
  /** What every subscription calls; one for all of them, since there may be thousands. */
  private readonly keeper = {
    subscribe: (topic: string, who: Subscription) => this.subscribe(topic, who),
    unsubscribe: (topic: string, who: Subscription) => this.unsubscribe(topic, who),
    forget: (who: Subscription) => this.subscriptions.delete(who),
  };
  private closed = false;
  /** Called with every topic that this process wakes, to tell the others. */
  onWake: (topics: readonly string[]) => void = () => {};

  /** Starts to wait. Subscribe *before* the query that decides whether there is anything to wait for. */
  waiter(): Waiter {
    const waiter = new Waiter(
      (topic) => this.subscribe(topic, waiter),
      () => this.remove(waiter),
    );
    this.waiters.add(waiter);
    if (this.closed) waiter.close();
    return waiter;
  }

  /** Starts to follow topics, until the subscription is ended. */
  follow(follower: Follower): Subscription {
    const subscription = new Subscription(follower, this.keeper);
    this.subscriptions.add(subscription);
    return subscription;
  }

  /** Wakes local waiters now and other processes soon. Call it after COMMIT. */
  wake(topics: readonly string[]): void {
    this.wakeLocal(topics);
    this.onWake(topics);
  }

  /** Wakes local waiters only: the news came from another process. */
  wakeLocal(topics: readonly string[]): void {
    for (const topic of topics) {
      for (const waiter of this.topics.get(topic) ?? []) waiter.wake(topic);
    }
  }

  /** Wakes everybody once: wakes may have been missed. */
  wakeAll(): void {
    for (const waiter of this.waiters) waiter.wake();
    for (const subscription of this.subscriptions) subscription.wake();
  }

  /** Ends every wait, now and from now on: the process is stopping. */
  close(): void {
    this.closed = true;
    for (const waiter of this.waiters) waiter.close();
    for (const { follower } of this.subscriptions) follower.onClose();
  }

  /** True once the process is stopping. */
  get isClosed(): boolean {
    return this.closed;
  }

  /** How many waits are open. */
  get size(): number {
    return this.waiters.size;
  }

  private subscribe(topic: string, waiter: Waiter | Subscription): void {
    const waiting = this.topics.get(topic);
    if (waiting) waiting.add(waiter);
    else this.topics.set(topic, new Set([waiter]));
  }

  private unsubscribe(topic: string, waiter: Waiter | Subscription): void {
    const waiting = this.topics.get(topic);
    waiting?.delete(waiter);
    if (waiting?.size === 0) this.topics.delete(topic);
  }

  private remove(waiter: Waiter): void {
    this.waiters.delete(waiter);
    for (const topic of waiter.subscribed) this.unsubscribe(topic, waiter);
  }
}

/** How a wait ended: something may be new, the time is up, or nobody waits any longer. */
export type WaitEnd = 'woken' | 'timeout' | 'closed';

/** One wait. Holds no connection and no loop: a promise, and one timer while it waits. */
export class Waiter {
  readonly subscribed = new Set<string>();
  private woken = false;
  private ended = false;
  private settle: ((end: WaitEnd) => void) | null = null;

  constructor(
    private readonly subscribe: (topic: string) => void,
    private readonly remove: () => void,
  ) {}

  /** From now on a wake of this topic ends the wait, also one that comes before `wait` is called. */
  add(topic: string): void {
    if (this.subscribed.has(topic)) return;
    this.subscribed.add(topic);
    this.subscribe(topic);
  }

  wake(_topic?: string): void {
    this.woken = true;
    this.settle?.('woken');
  }

  /** Ends the wait for good; safe to call twice. */
  close(): void {
    if (this.ended) return;
    this.ended = true;
    this.remove();
    this.settle?.('closed');
  }

  /** Waits at most `ms` milliseconds for a wake since the last call. */
  wait(ms: number): Promise<WaitEnd> {
    if (this.ended) return Promise.resolve('closed');
    if (this.woken) {
      this.woken = false;
      return Promise.resolve('woken');
    }
    if (ms <= 0) return Promise.resolve('timeout');
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.settle?.('timeout'), ms);
      this.settle = (end) => {
        clearTimeout(timer);
        this.settle = null;
        if (end === 'woken') this.woken = false;
        resolve(end);
      };
    });
  }
}
