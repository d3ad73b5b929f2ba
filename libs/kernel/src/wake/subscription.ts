/** Somebody who stays, rather than waiting once: a socket. */
export interface Follower {
  /** Look again; without a topic wakes may have been missed, so look at everything. Must not throw. */
  onWake(topic?: string): void;
  /** The process is stopping. */
  onClose(): void;
}

/** The topics that a follower is told of, until `end`. */
export class Subscription {
  readonly topics = new Set<string>();

  constructor(
    readonly follower: Follower,
    private readonly hub: {
      subscribe(topic: string, subscription: Subscription): void;
      unsubscribe(topic: string, subscription: Subscription): void;
      forget(subscription: Subscription): unknown;
    },
  ) {}

  /** Subscribe *before* the query that decides whether there is anything to tell. */
  add(topic: string): void {
    if (this.topics.has(topic)) return;
    this.topics.add(topic);
    this.hub.subscribe(topic, this);
  }

  remove(topic: string): void {
    if (this.topics.delete(topic)) this.hub.unsubscribe(topic, this);
  }

  wake(topic?: string): void {
    this.follower.onWake(topic);
  }

  /** Nothing is told any more; safe to call twice. */
  end(): void {
    for (const topic of this.topics) this.hub.unsubscribe(topic, this);
    this.topics.clear();
    this.hub.forget(this);
  }
}
