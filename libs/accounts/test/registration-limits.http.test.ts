import { startTestApi, type TestApi } from '@relayger/api/testing';
import { createLogger } from '@relayger/kernel';
import { AccountsSweep } from '../src/accounts.sweep.js';
import { BEHIND_PROXY, from, passTime, tally } from './support.js';

let t: TestApi;
beforeEach(async () => {
  t = await startTestApi({ ...BEHIND_PROXY, REGISTRATIONS_PER_IP_HOUR: '5' });
});
afterEach(() => t.close());

const HOUR = 3_600_000;

function tryToRegister(client: string, api = t.api) {
  return api.raw('POST', '/v1/register', { headers: from(client), body: { kind: 'agent' } });
}

async function registerAtOnce(client: string, times: number, api = t.api) {
  return tally(await Promise.all(Array.from({ length: times }, () => tryToRegister(client, api))));
}

test('a client registers five times an hour, also when it asks for all of them at once', async () => {
  expect(await registerAtOnce('192.0.2.1', 20)).toEqual({ 201: 5, 429: 15 });
  const refused = await t.api.call('register', {
    headers: from('192.0.2.1'),
    body: { kind: 'agent' },
    expect: 429,
  });
  expect(refused.body.error).toMatchObject({ code: 'registration_limit' });
  const wait = Number(refused.headers['retry-after']);
  expect(wait).toBeGreaterThan(3500);
  expect(wait).toBeLessThanOrEqual(3600);
  // Others are not concerned.
  expect(await registerAtOnce('192.0.2.2', 5)).toEqual({ 201: 5 });
  await passTime(t.database, HOUR);
  expect(await registerAtOnce('192.0.2.1', 1)).toEqual({ 201: 1 });
});

test('a client is an IPv4 address or an IPv6 /64 block', async () => {
  expect(await registerAtOnce('2001:db8:1:2::1', 3)).toEqual({ 201: 3 });
  expect(await registerAtOnce('2001:db8:1:2:ffff::2', 3)).toEqual({ 201: 2, 429: 1 });
  expect(await registerAtOnce('2001:db8:1:3::1', 1)).toEqual({ 201: 1 });
  expect(await registerAtOnce('::ffff:192.0.2.1', 5)).toEqual({ 201: 5 });
  expect(await registerAtOnce('192.0.2.1', 1)).toEqual({ 429: 1 });
});

test('only a trusted proxy is believed, and only about its own neighbour', async () => {
  expect(await registerAtOnce('192.0.2.66, 192.0.2.1', 5)).toEqual({ 201: 5 });
  expect(await registerAtOnce('192.0.2.67, 192.0.2.1', 1)).toEqual({ 429: 1 });
  const direct = await t.replica({ TRUSTED_PROXIES: '' });
  for (let i = 1; i <= 5; i++) await tryToRegister(`198.51.100.${i}`, direct.api);
  expect(await registerAtOnce('198.51.100.6', 1, direct.api)).toEqual({ 429: 1 });
  await direct.close();
});

test('the limits hold across a restart and across processes', async () => {
  expect(await registerAtOnce('192.0.2.1', 5)).toEqual({ 201: 5 });
  const other = await t.replica();
  expect(await registerAtOnce('192.0.2.1', 1, other.api)).toEqual({ 429: 1 });
  await other.close();
});

test('the server as a whole takes so many a day', async () => {
  const small = await t.replica({ REGISTRATIONS_PER_DAY: '8' });
  const all = Array.from({ length: 12 }, (_, i) => tryToRegister(`192.0.2.${i}`, small.api));
  expect(tally(await Promise.all(all))).toEqual({ 201: 8, 429: 4 });
  await passTime(t.database, 24 * HOUR);
  expect(await registerAtOnce('192.0.2.1', 1, small.api)).toEqual({ 201: 1 });
  await small.close();
});

test('a registration that fails takes no place, but failures have a limit of their own', async () => {
  const weak = { kind: 'agent', password: 'short' };
  for (let i = 0; i < 49; i++) {
    await t.api.call('register', { headers: from('192.0.2.1'), body: weak, expect: 400 });
  }
  expect(await registerAtOnce('192.0.2.1', 1)).toEqual({ 201: 1 });
  await t.api.call('register', { headers: from('192.0.2.1'), body: weak, expect: 400 });
  const refused = await t.api.call('register', {
    headers: from('192.0.2.1'),
    body: { kind: 'agent' },
    expect: 429,
  });
  expect(refused.body.error.code).toBe('registration_limit');
  expect(await registerAtOnce('192.0.2.2', 1)).toEqual({ 201: 1 });
});

test('no address is stored in the clear, and the sweep deletes what has run out', async () => {
  await registerAtOnce('192.0.2.1', 1);
  const { rows } = await t.database.pool.query('SELECT key::text FROM limit_counters');
  expect(rows).toHaveLength(2);
  expect(JSON.stringify(rows)).not.toContain('192.0.2.1');

  const sweep = new AccountsSweep(t.database, createLogger('silent'));
  await sweep.sweep();
  expect(await t.database.prisma.limitCounter.count()).toBe(2);
  await passTime(t.database, HOUR);
  await sweep.sweep();
  expect(await t.database.prisma.limitCounter.count()).toBe(1);
  await passTime(t.database, 24 * HOUR);
  await sweep.sweep();
  expect(await t.database.prisma.limitCounter.count()).toBe(0);
});
