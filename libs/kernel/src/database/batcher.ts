interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface BatcherOptions<Item, Result> {
  /** Answers in the order of the items. */
  run: (items: Item[]) => Promise<Result[]>;
  /** Most items in one run. */
  maxItems: number;
  /** What an item may cost besides, and the most of that in one run; an item that costs more runs alone. */
  weigh?: { item: (item: Item) => number; max: number };
  /** Most runs at the same time; what arrives meanwhile shares the next run. */
  maxRuns: number;
  /**
   * Whether a failure may lie in one of the items: then each of them runs alone, and only the bad one fails.
   * Without it, and for other failures, all items of the run share the failure.
   */
  isolate?: (error: unknown) => boolean;
}

/**
 * Turns calls that arrive together into one set-based statement. Calls of the same turn of the event loop are
 * joined; while `maxRuns` runs are under way, later calls gather for the next one. Alone, a call runs at once.
 */
export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private running = 0;
  private scheduled = false;

  constructor(private readonly options: BatcherOptions<Item, Result>) {}

  /** Result of one item. */
  do(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.scheduled) return;
      this.scheduled = true;
      setImmediate(() => {
        this.scheduled = false;
        this.start();
      });
    });
  }

  private start(): void {
    while (this.waiting.length > 0 && this.running < this.options.maxRuns) {
      const batch = this.waiting.splice(0, this.countOfNext());
      this.running++;
      void this.settle(batch).finally(() => {
        this.running--;
        this.start();
      });
    }
  }

  private countOfNext(): number {
    const { maxItems, weigh } = this.options;
    if (!weigh) return maxItems;
    let count = 0;
    for (let weight = 0; count < Math.min(maxItems, this.waiting.length); count++) {
      weight += weigh.item((this.waiting[count] as Waiting<Item, Result>).item);
      if (weight > weigh.max && count > 0) break;
    }
    return count;
  }

  private async settle(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.options.run(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('a batch must answer every item');
      for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Result);
    } catch (error) {
      if (batch.length > 1 && this.options.isolate?.(error)) {
        for (const one of batch) await this.settle([one]);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }
}
