import { startTestApi, type TestApi } from '@relayger/api/testing';
import { BEHIND_PROXY, freeNumber, from, openIdentity, register } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi(BEHIND_PROXY);
});
afterAll(() => t.close());

const ROUND = 40;
const ROUNDS = 4;

function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[samples.length >> 1] as number;
}

let clients = 0;
async function time(path: string, body: object): Promise<number> {
  clients++;
  const headers = from(`10.9.${clients >> 8}.${clients & 255}`);
  const start = performance.now();
  await t.api.raw('POST', path, { headers, body, expect: 401 });
  return performance.now() - start;
}

/**
 * How the medians of two kinds of attempts compare. They take turns, so that whatever else the machine does
 * meets both; a noisy round is followed by another, a real difference stays.
 */
async function compare(path: string, first: () => object, second: () => object): Promise<number> {
  const [a, b]: [number[], number[]] = [[], []];
  let ratio = Number.NaN;
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < ROUND; i++) {
      a.push(await time(path, first()));
      b.push(await time(path, second()));
    }
    ratio = median(a) / median(b);
    if (ratio > 0.9 && ratio < 1.1) break;
  }
  return ratio;
}

test.each([
  ['an unknown number', async () => freeNumber],
  [
    'a number without a password',
    async () => {
      const { number } = await openIdentity(t.database);
      return () => number;
    },
  ],
])(
  'a sign-in takes as long for %s as for a known one',
  async (_, other) => {
    const { number } = await register(t);
    const otherNumber = await other();
    const ratio = await compare(
      '/v1/login',
      () => ({ number, password: 'wrong password' }),
      () => ({ number: otherNumber(), password: 'wrong password' }),
    );
    expect(ratio).toBeGreaterThan(0.9);
    expect(ratio).toBeLessThan(1.1);
  },
  60_000,
);

test('a recovery takes as long for an unknown number as for a known one', async () => {
  const { number } = await register(t);
  const recoveryKey = 'RK-2222-2222-2222-2222-2222-2222';
  const ratio = await compare(
    '/v1/recover',
    () => ({ number, recoveryKey }),
    () => ({ number: freeNumber(), recoveryKey }),
  );
  expect(ratio).toBeGreaterThan(0.9);
  expect(ratio).toBeLessThan(1.1);
}, 60_000);
