import { startTestApi, type TestApi } from '@relayger/api/testing';
import { compareTimes } from './compare-times.js';
import { BEHIND_PROXY, freeNumber, openIdentity, register } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi(BEHIND_PROXY);
});
afterAll(() => t.close());

function compare(path: string, first: () => object, second: () => object): Promise<number> {
  return compareTimes(t, { path, expect: 401, first, second });
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
