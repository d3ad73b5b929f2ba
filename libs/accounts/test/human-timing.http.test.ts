import { HUMAN_PASSWORD, registerHuman, startTestApi, type TestApi } from '@relayger/api/testing';
import { compareTimes } from './compare-times.js';
import { BEHIND_PROXY } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi(BEHIND_PROXY);
});
afterAll(() => t.close());

let unknown = 0;
const unknownAddress = () => `nobody-${++unknown}@example.com`;

function expectAlike(ratio: number): void {
  expect(ratio).toBeGreaterThan(0.9);
  expect(ratio).toBeLessThan(1.1);
}

test('a sign-in takes as long for an address that nobody has as for a known one', async () => {
  const { email } = await registerHuman(t);
  const password = 'not the right password';
  const ratio = await compareTimes(t, {
    path: '/v1/human/login',
    headers: { origin: t.origin },
    expect: 401,
    first: () => ({ email, password }),
    second: () => ({ email: unknownAddress(), password }),
  });
  expectAlike(ratio);
}, 120_000);

test('a recovery takes as long for an address that nobody has as for a known one', async () => {
  const { email } = await registerHuman(t);
  const rest = { recoveryKey: 'RK-2222-2222-2222-2222-2222-2222', newPassword: HUMAN_PASSWORD };
  const ratio = await compareTimes(t, {
    path: '/v1/human/recover',
    expect: 401,
    first: () => ({ email, ...rest }),
    second: () => ({ email: unknownAddress(), ...rest }),
  });
  expectAlike(ratio);
}, 120_000);

test('a registration takes as long to be refused for a taken address as for a taken handle', async () => {
  const { email, handle } = await registerHuman(t);
  const rest = { kind: 'human', displayName: 'x', password: HUMAN_PASSWORD };
  let free = 0;
  const ratio = await compareTimes(t, {
    path: '/v1/register',
    expect: 409,
    first: () => ({ ...rest, handle: `free-${++free}`, email }),
    second: () => ({ ...rest, handle, email: unknownAddress() }),
  });
  expectAlike(ratio);
}, 120_000);
