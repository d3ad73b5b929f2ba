import { startTestApi, type TestApi } from '@relayger/api/testing';
import { BEHIND_PROXY, freeNumber, from, passTime, register, tally } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi(BEHIND_PROXY);
});
afterAll(() => t.close());

const HOUR = 3_600_000;
let clients = 0;
/** A client that has not been seen in this file. */
function newClient(): string {
  clients++;
  return `10.0.${clients >> 8}.${clients & 255}`;
}

function signIn(client: string, number: string, password = 'wrong', api = t.api) {
  return api.raw('POST', '/v1/login', { headers: from(client), body: { number, password } });
}

function recover(client: string, number: string, recoveryKey = 'RK-WRONG', api = t.api) {
  return api.raw('POST', '/v1/recover', { headers: from(client), body: { number, recoveryKey } });
}

async function repeat(times: number, attempt: () => Promise<{ status: number }>) {
  const replies = [];
  for (let i = 0; i < times; i++) replies.push(await attempt());
  return tally(replies);
}

function atOnce(times: number, attempt: (i: number) => Promise<{ status: number }>) {
  return Promise.all(Array.from({ length: times }, (_, i) => attempt(i))).then(tally);
}

test('ten wrong passwords lock one client out of one number, and nobody else', async () => {
  const agent = await register(t);
  const [client, other] = [newClient(), newClient()];
  expect(await repeat(10, () => signIn(client, agent.number))).toEqual({ 401: 10 });
  const refused = await t.api.call('login', {
    headers: from(client),
    body: { number: agent.number, password: agent.password },
    expect: 429,
  });
  expect(refused.body.error.code).toBe('too_many_attempts');
  const wait = Number(refused.headers['retry-after']);
  expect(wait).toBeGreaterThan(3500);
  expect(wait).toBeLessThanOrEqual(3600);

  expect((await signIn(other, agent.number, agent.password)).status).toBe(200);
  const second = await register(t);
  expect((await signIn(client, second.number, second.password)).status).toBe(200);
  // Open tokens and the way back in are not concerned.
  await t.api.call('getMe', { token: agent.token, headers: from(client), expect: 200 });
  expect((await recover(client, agent.number, agent.recoveryKey)).status).toBe(200);
});

test.each([
  ['sign-ins', signIn],
  ['recoveries', recover],
])('fifty wrong %s at the same moment are let through ten times exactly', async (_, attempt) => {
  const { number } = await register(t);
  const client = newClient();
  expect(await atOnce(50, () => attempt(client, number))).toEqual({ 401: 10, 429: 40 });
});

test('fifty at the same moment from two processes are let through ten times exactly', async () => {
  const { number } = await register(t);
  const client = newClient();
  const other = await t.replica();
  const attempt = (i: number) => signIn(client, number, 'wrong', i % 2 === 0 ? t.api : other.api);
  expect(await atOnce(50, attempt)).toEqual({ 401: 10, 429: 40 });
  await other.close();
});

test('what is right is not counted', async () => {
  const { number, password } = await register(t);
  const client = newClient();
  expect(await repeat(15, () => signIn(client, number, password))).toEqual({ 200: 15 });
  expect(await repeat(9, () => signIn(client, number))).toEqual({ 401: 9 });
  expect(await repeat(3, () => signIn(client, number, password))).toEqual({ 200: 3 });
  expect(await repeat(2, () => signIn(client, number))).toEqual({ 401: 1, 429: 1 });
});

test('numbers that nobody has are limited alike', async () => {
  const [client, number] = [newClient(), freeNumber()];
  expect(await repeat(12, () => signIn(client, number))).toEqual({ 401: 10, 429: 2 });
  expect(await repeat(12, () => recover(client, number))).toEqual({ 401: 10, 429: 2 });
});

test('a hundred failures of one client lock it for every number', async () => {
  const client = newClient();
  const numbers = Array.from({ length: 20 }, freeNumber);
  const spread = (i: number) => recover(client, numbers[i % 20] as string);
  expect(await atOnce(120, spread)).toEqual({ 401: 100, 429: 20 });
  const agent = await register(t);
  expect((await recover(client, agent.number, agent.recoveryKey)).status).toBe(429);
  expect((await signIn(client, agent.number, agent.password)).status).toBe(200);
  expect((await recover(newClient(), agent.number, agent.recoveryKey)).status).toBe(200);
});

test('one client is a whole /64', async () => {
  const { number } = await register(t);
  const attempt = (i: number) => signIn(`2001:db8:7:7::${i}`, number);
  expect(await atOnce(15, attempt)).toEqual({ 401: 10, 429: 5 });
});

test('a lock ends with its hour, and holds across restarts until then', async () => {
  const { number, password } = await register(t);
  const client = newClient();
  expect(await repeat(10, () => signIn(client, number))).toEqual({ 401: 10 });
  const restarted = await t.replica();
  expect((await signIn(client, number, password, restarted.api)).status).toBe(429);
  await restarted.close();
  await passTime(t.database, HOUR - 60_000);
  expect((await signIn(client, number, password)).status).toBe(429);
  await passTime(t.database, 60_000);
  expect((await signIn(client, number, password)).status).toBe(200);
});

test('a thousand failures from all clients lock the passwords of a number, but not its recovery key', async () => {
  const { number, password, recoveryKey } = await register(t);
  // The last ten for real, each from a client of its own; the others by setting the counter of the number.
  expect((await signIn(newClient(), number)).status).toBe(401);
  const { rowCount } = await t.database.pool.query(
    `UPDATE limit_counters SET count = 991
      WHERE key = sha256(convert_to('sign_in' || chr(10) || 'number' || chr(10) || $1, 'UTF8'))`,
    [number],
  );
  expect(rowCount).toBe(1);
  expect(await atOnce(20, () => signIn(newClient(), number))).toEqual({ 401: 9, 429: 11 });
  expect((await signIn(newClient(), number, password)).status).toBe(429);
  expect(await repeat(3, () => recover(newClient(), number))).toEqual({ 401: 3 });
  expect((await recover(newClient(), number, recoveryKey)).status).toBe(200);
});

test('what is refused is counted nowhere: one client cannot lock a number for others', async () => {
  const { number } = await register(t);
  const client = newClient();
  expect(await atOnce(200, () => signIn(client, number))).toEqual({ 401: 10, 429: 190 });
  const { rows } = await t.database.pool.query<{ count: number }>(
    `SELECT count FROM limit_counters
      WHERE key = sha256(convert_to('sign_in' || chr(10) || 'number' || chr(10) || $1, 'UTF8'))`,
    [number],
  );
  expect(rows).toEqual([{ count: 10 }]);
});
