interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface BatcherOptions {
  /** Most items in one run. */
  maxItems: number;
  /** Most runs at the same time; what arrives meanwhile shares the next run. */
  maxRuns: number;
}

/**
 * Turns calls that arrive together into one set-based statement. Calls of the same turn of the event loop are
 * joined; while `maxRuns` runs are under way, later calls gather for the next one. Alone, a call runs at once.
 */
export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private running = 0;
  private scheduled = false;

  constructor(
    private readonly run: (items: Item[]) => Promise<Result[]>,
    private readonly options: BatcherOptions,
  ) {}

  /** Result of one item. `run` must answer in the order of its items. */
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
      const batch = this.waiting.splice(0, this.options.maxItems);
      this.running++;
      void this.run(batch.map(({ item }) => item))
        .then(
          (results) => batch.forEach(({ resolve }, i) => resolve(results[i] as Result)),
          (error: unknown) => batch.forEach(({ reject }) => reject(error)),
        )
        .finally(() => {
          this.running--;
          this.start();
        });
    }
  }
}
