import { RelaygerError } from '@relayger/protocol';
import { WorkQueue } from '../src/work-queue.js';

/** Jobs that run until they are let go. */
class Jobs {
  readonly order: number[] = [];
  running = 0;
  most = 0;
  private readonly waiting = new Map<number, () => void>();

  start(id: number): Promise<number> {
    this.order.push(id);
    this.running++;
    this.most = Math.max(this.most, this.running);
    return new Promise((resolve) => {
      this.waiting.set(id, () => {
        this.running--;
        resolve(id);
      });
    });
  }

  finish(id: number): void {
    this.waiting.get(id)?.();
  }
}

test('runs a few at a time, first come first served, and refuses what it could only delay', async () => {
  const [queue, jobs] = [new WorkQueue({ running: 2, waiting: 3 }), new Jobs()];
  const accepted = [1, 2, 3, 4, 5].map((id) => queue.run(() => jobs.start(id)));
  await expect(queue.run(() => jobs.start(6))).rejects.toMatchObject({
    code: 'unavailable',
    details: { retryAfter: 1 },
  });
  for (const id of [1, 2, 3, 4, 5]) {
    jobs.finish(id);
    expect(await accepted[id - 1]).toBe(id);
  }
  expect(jobs.order).toEqual([1, 2, 3, 4, 5]);
  expect(jobs.most).toBe(2);
});

test('a job that fails gives its place on, and an idle queue starts at once', async () => {
  const queue = new WorkQueue({ running: 1, waiting: 1 });
  const failing = queue.run(() => Promise.reject(new RelaygerError('conflict')));
  const next = queue.run(() => Promise.resolve('done'));
  await expect(failing).rejects.toThrow(RelaygerError);
  expect(await next).toBe('done');
  expect(await queue.run(() => Promise.resolve('again'))).toBe('again');
});
