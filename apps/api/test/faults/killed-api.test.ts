import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type ApiProcess, build, endProcesses, startApiProcess } from './support/api-process.js';
import {
  type Account,
  expectNothingLost,
  historyOf,
  Load,
  openGroup,
  register,
} from './support/load.js';
import { postmasterPid } from './support/own-postgres.js';

let home: string;
let service: ApiProcess;

beforeAll(async () => {
  await build();
  home = await mkdtemp(path.join(os.tmpdir(), 'relayger-killed-'));
}, 90_000);

afterAll(async () => {
  await service?.stop();
  await endProcesses();
  await rm(home, { recursive: true, force: true });
}, 30_000);

const start = () => startApiProcess({ DATA_DIR: home });

test('kill -9 under load, with and without its PostgreSQL: every acknowledged message is there once', async () => {
  service = await start();
  const accounts = (await Promise.all(Array.from({ length: 8 }, () => register(service.api)))) as [
    Account,
    ...Account[],
  ];
  const room = await openGroup(service.api, ...accounts);
  const load = new Load(() => service.api, room, accounts);

  for (const alsoPostgres of [false, true, false]) {
    await load.more(100);
    const killed = service;
    const postmaster = await postmasterPid(home);
    killed.signal('SIGKILL');
    if (alsoPostgres) process.kill(postmaster, 'SIGKILL');
    expect(await killed.exited).toBe('SIGKILL');
    killed.api.close();
    service = await start();
    expect(await postmasterPid(home)).not.toBe(postmaster);
  }
  await load.more(100);
  await load.stop();
  expect(load.statuses.get(0)).toBeGreaterThan(0);
  expect(load.acknowledged.size).toBeGreaterThan(400);
  expectNothingLost(await historyOf(service.api, accounts[0], room), load);

  const [reader] = accounts;
  // What was consumed before the accident may come again, what was not consumed must come.
  const options = { token: reader.token, query: { limit: 100 }, expect: 200 as const };
  expect((await service.api.call('readMailbox', options)).body.length).toBeGreaterThan(0);

  const stopping = performance.now();
  expect(await service.stop()).toBe(0);
  expect(performance.now() - stopping).toBeLessThan(10_000);
  await expect(postmasterPid(home)).rejects.toMatchObject({ code: 'ENOENT' });
}, 90_000);
