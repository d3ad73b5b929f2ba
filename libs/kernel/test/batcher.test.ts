import { setImmediate as turn } from 'node:timers/promises';
import { Batcher } from '../src/database/batcher.js';

/** A batcher whose runs end when the test says so. */
function setUp(options: {
  maxItems: number;
  maxRuns: number;
  weigh?: { item: (item: number) => number; max: number };
}) {
  const runs: { items: number[]; finish: () => void; fail: (error: Error) => void }[] = [];
  const batcher = new Batcher<number, string>({
    run: (items) =>
      new Promise((resolve, reject) => {
        const finish = () => resolve(items.map((item) => `result ${item}`));
        runs.push({ items, finish, fail: reject });
      }),
    ...options,
  });
  return { batcher, runs, started: () => runs.map(({ items }) => items) };
}

test('a call alone runs in the same turn of the event loop', async () => {
  const { batcher, runs, started } = setUp({ maxItems: 10, maxRuns: 1 });
  const result = batcher.do(1);
  expect(started()).toEqual([]);
  await turn();
  expect(started()).toEqual([[1]]);
  runs[0]?.finish();
  expect(await result).toBe('result 1');
});

test('calls of one turn share a run, and each gets its own result', async () => {
  const { batcher, runs, started } = setUp({ maxItems: 10, maxRuns: 1 });
  const results = [3, 1, 2].map((item) => batcher.do(item));
  await turn();
  expect(started()).toEqual([[3, 1, 2]]);
  runs[0]?.finish();
  expect(await Promise.all(results)).toEqual(['result 3', 'result 1', 'result 2']);
});

test('a run takes at most maxItems; at most maxRuns go on at once, the rest waits in order', async () => {
  const { batcher, runs, started } = setUp({ maxItems: 2, maxRuns: 2 });
  const results = [1, 2, 3, 4, 5, 6, 7].map((item) => batcher.do(item));
  await turn();
  expect(started()).toEqual([
    [1, 2],
    [3, 4],
  ]);
  runs[1]?.finish();
  await results[3];
  await turn();
  expect(started().slice(2)).toEqual([[5, 6]]);
  runs[0]?.finish();
  runs[2]?.finish();
  await results[5];
  await turn();
  runs[3]?.finish();
  expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5, 6, 7].map((item) => `result ${item}`));
});

test('what arrives while all runs are busy shares the next one', async () => {
  const { batcher, runs, started } = setUp({ maxItems: 10, maxRuns: 1 });
  const first = batcher.do(1);
  await turn();
  const later: Promise<string>[] = [];
  for (const item of [2, 3, 4]) {
    later.push(batcher.do(item));
    await turn();
  }
  expect(started()).toEqual([[1]]);
  runs[0]?.finish();
  await first;
  await turn();
  expect(started()).toEqual([[1], [2, 3, 4]]);
  runs[1]?.finish();
  expect(await Promise.all(later)).toEqual(['result 2', 'result 3', 'result 4']);
});

test('a failed run fails the calls it carried and no others', async () => {
  const { batcher, runs } = setUp({ maxItems: 2, maxRuns: 1 });
  const results = [1, 2, 3].map((item) => batcher.do(item));
  const settled = Promise.allSettled(results);
  await turn();
  runs[0]?.fail(new Error('the database is gone'));
  await results[0]?.catch(() => undefined);
  await turn();
  runs[1]?.finish();
  expect(
    (await settled).map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason))),
  ).toEqual(['Error: the database is gone', 'Error: the database is gone', 'result 3']);
  const next = batcher.do(4);
  await turn();
  runs[2]?.finish();
  expect(await next).toBe('result 4');
});

describe('a failure that may lie in one item', () => {
  function isolating() {
    const runs: number[][] = [];
    const batcher = new Batcher<number, number>({
      run: async (items) => {
        runs.push(items);
        await turn();
        if (items.includes(0)) throw new Error('the database is gone');
        if (items.some((item) => item < 0)) throw new RangeError('bad item');
        return items;
      },
      isolate: (error) => error instanceof RangeError,
      maxItems: 10,
      maxRuns: 1,
    });
    const settle = async (items: number[]) => {
      const all = await Promise.allSettled(items.map((item) => batcher.do(item)));
      return all.map((one) =>
        one.status === 'fulfilled' ? one.value : (one.reason as Error).message,
      );
    };
    return { runs, settle };
  }

  test('fails that item alone; the others run again, each by itself', async () => {
    const { runs, settle } = isolating();
    expect(await settle([1, -1, 2, -2])).toEqual([1, 'bad item', 2, 'bad item']);
    expect(runs).toEqual([[1, -1, 2, -2], [1], [-1], [2], [-2]]);
  });

  test('is not tried again when the item was alone', async () => {
    const { runs, settle } = isolating();
    expect(await settle([-1])).toEqual(['bad item']);
    expect(runs).toEqual([[-1]]);
  });

  test('is told from one that all items share', async () => {
    const { runs, settle } = isolating();
    expect(await settle([1, 0, 2])).toEqual(Array(3).fill('the database is gone'));
    expect(runs).toHaveLength(1);
  });
});

test('a thousand callers in random turns get their own results, in full batches', async () => {
  let busy = 0;
  let most = 0;
  const sizes: number[] = [];
  const batcher = new Batcher<number, number>({
    run: async (items) => {
      sizes.push(items.length);
      most = Math.max(most, ++busy);
      for (let i = 0; i < 3; i++) await turn();
      busy--;
      return items.map((item) => item * 2);
    },
    maxItems: 16,
    maxRuns: 3,
  });
  const results = await Promise.all(
    Array.from({ length: 1_000 }, async (_, i) => {
      for (let wait = i % 7; wait > 0; wait--) await turn();
      return batcher.do(i);
    }),
  );
  expect(results).toEqual(Array.from({ length: 1_000 }, (_, i) => i * 2));
  expect(most).toBe(3);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(16);
  expect(sizes.length).toBeLessThan(150);
});

test('a run takes as many items as they may cost together; one that costs more runs alone', async () => {
  const weigh = { item: (item: number) => item, max: 10 };
  const { batcher, started } = setUp({ maxItems: 3, maxRuns: 9, weigh });
  for (const item of [4, 6, 1, 50, 2, 2, 2, 2, 9, 2]) void batcher.do(item);
  await turn();
  expect(started()).toEqual([[4, 6], [1], [50], [2, 2, 2], [2], [9], [2]]);
});
