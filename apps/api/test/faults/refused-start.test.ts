import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { build, endProcesses, refusedStart, startApiProcess } from './support/api-process.js';

let home: string;

beforeAll(async () => {
  await build();
  home = await mkdtemp(path.join(os.tmpdir(), 'relayger-refused-'));
}, 90_000);

afterAll(async () => {
  await endProcesses();
  await rm(home, { recursive: true, force: true });
});

const lines = (output: string) => output.trimEnd().split('\n');

test('a taken port is told in one line, before anything is touched', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const dataDir = path.join(home, 'untouched');
  const { code, output, ms } = await refusedStart({ PORT: String(port), DATA_DIR: dataDir });
  expect(code).toBe(1);
  expect(lines(output)).toEqual([
    `Port ${port} on 127.0.0.1 is taken; stop the other program or set PORT to a free one.`,
  ]);
  expect(ms).toBeLessThan(10_000);
  await expect(access(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  other.close();
});

test('all mistakes of the configuration are told together', async () => {
  const { code, output } = await refusedStart({
    DATA_DIR: path.join(home, 'untouched'),
    PORT: '80000',
    DATABASE_POOL: 'many',
    DATABASE_URL: 'mysql://localhost',
    PUBLIC_URL: 'https://relay.example/path',
    TRUSTED_PROXIES: '10.0.0.0/33',
    LOG_LEVEL: 'loud',
    REGISTRATION_ENABLED: 'yes',
  });
  expect(code).toBe(1);
  const [heading, ...problems] = lines(output);
  expect(heading).toMatch(/correct these settings/);
  expect(problems.map((line) => line.split(' ', 1)[0]).sort()).toEqual([
    'DATABASE_POOL',
    'DATABASE_URL',
    'LOG_LEVEL',
    'PORT',
    'PUBLIC_URL',
    'REGISTRATION_ENABLED',
    'TRUSTED_PROXIES.0',
  ]);
});

test('a second process on the same data is told in one line, and the first one goes on', async () => {
  const dataDir = path.join(home, 'shared');
  const first = await startApiProcess({ DATA_DIR: dataDir });
  const { code, output } = await refusedStart({ DATA_DIR: dataDir });
  expect(code).toBe(1);
  expect(lines(output)).toEqual([
    expect.stringMatching(/^Another Relayger process is running on /),
  ]);
  await first.api.call('getReadiness', { expect: 200 });
  expect(await first.stop()).toBe(0);
}, 60_000);

test.each([['where nobody listens', 'postgresql://relayger:secret@127.0.0.1:1/relayger']])(
  'a database %s is told in one line without the password',
  async (_name, url) => {
    const { code, output } = await refusedStart({ DATABASE_URL: url });
    expect(code).toBe(1);
    expect(lines(output)).toHaveLength(1);
    expect(output).not.toContain('secret');
    expect(output).toMatch(/127\.0\.0\.1:1|DATABASE_URL/);
  },
);
