import { z } from 'zod';
import { bool, ConfigError, csv, int, loadConfig } from '../src/config/config.js';
import { kernelSettings } from '../src/config/kernel.config.js';
import { ServiceAddress } from '../src/http/service-address.js';

const load = (env: Record<string, string | undefined>) => loadConfig(kernelSettings, env);

/** The lines that a bad environment prints; empty for a good one. */
function complaints(
  env: Record<string, string | undefined>,
  shape: z.ZodRawShape = kernelSettings,
): string[] {
  try {
    loadConfig(shape, env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.split('\n');
  }
}

test('everything has a default', () => {
  expect(load({})).toMatchObject({
    HOST: '127.0.0.1',
    PORT: 8787,
    DATA_DIR: './data',
    DATABASE_POOL: 16,
    TRUSTED_PROXIES: [],
    REQUESTS_PER_MINUTE: 600,
    LOG_LEVEL: 'info',
  });
});

test('an empty variable counts as absent, a foreign one is not looked at', () => {
  expect(load({ PORT: '', HOST: undefined, PATH: '/bin', PORTS: 'x' })).toEqual(load({}));
});

test('all problems are told at once, each with its variable', () => {
  const bad = {
    PORT: '80a',
    PUBLIC_URL: 'relay.example',
    DATABASE_URL: 'mysql://x',
    DATABASE_POOL: '1',
    TRUSTED_PROXIES: '10.0.0.0/8, localhost',
    REQUESTS_PER_MINUTE: '0',
    LOG_LEVEL: 'loud',
  };
  const lines = complaints(bad);
  expect(lines.map((line) => line.split(/[ .]/)[0]).sort()).toEqual(Object.keys(bad).sort());
  // A value may be a password, so it is not repeated.
  for (const value of ['80a', 'mysql://x', 'loud']) expect(lines.join()).not.toContain(value);
});

test.each([
  ['PORT', ['0', '65535'], ['-1', '65536', '1e3', '0x50', '8787 ', '80.5', '٨٠']],
  [
    'PUBLIC_URL',
    ['https://relay.example', 'http://localhost:8787', 'https://relay.example/'],
    [
      'relay.example',
      'ftp://relay.example',
      'https://relay.example/path',
      'https://relay.example?x',
      'https://user:secret@relay.example',
      'https://relay.example:443',
      'HTTPS://RELAY.EXAMPLE',
      'https://',
    ],
  ],
  [
    'DATABASE_URL',
    ['postgres://u:p@h/d', 'postgresql://h/d'],
    ['mysql://h/d', 'h/d', ' postgresql://h/d'],
  ],
  ['DATABASE_POOL', ['2', '200'], ['1', '201', '0', 'many']],
  [
    'TRUSTED_PROXIES',
    ['127.0.0.1', '10.0.0.0/8,::1', 'fd00::/8 , 192.0.2.1', ','],
    ['localhost', '10.0.0.0/33', '10.0.0.256', '10.0.0.0/8;::1', 'fd00::/129', '10.0.0.0/', '*'],
  ],
  ['REQUESTS_PER_MINUTE', ['1', '1000000'], ['0', '1000001', '-5']],
  ['LOG_LEVEL', ['silent', 'trace'], ['INFO', 'verbose']],
])('%s takes %j and refuses %j', (name, good, bad) => {
  for (const value of good) expect(complaints({ [name]: value })).toEqual([]);
  for (const value of bad) {
    const lines = complaints({ [name]: value });
    expect({ value, lines: lines.length }).toEqual({ value, lines: 1 });
    expect(lines[0]).toMatch(new RegExp(`^${name}.* must `));
  }
});

test('lists, numbers and switches are read as such', () => {
  const shape = { LIST: csv(), COUNT: int(1, 10), SWITCH: bool };
  expect(loadConfig(shape, { LIST: ' a, b,,c ', COUNT: '07', SWITCH: 'false' })).toEqual({
    LIST: ['a', 'b', 'c'],
    COUNT: 7,
    SWITCH: false,
  });
  for (const value of ['1', 'yes', 'TRUE', 'on']) {
    expect(complaints({ LIST: 'a', COUNT: '1', SWITCH: value }, shape)).toEqual([
      'SWITCH must be true or false',
    ]);
  }
});

test.each([
  [{ PUBLIC_URL: 'https://relay.example/' }, 'https://relay.example'],
  [{ HOST: '127.0.0.1' }, 'http://localhost:4321'],
  [{ HOST: '0.0.0.0' }, 'http://localhost:4321'],
  [{ HOST: '::' }, 'http://localhost:4321'],
  [{ HOST: '192.0.2.7' }, 'http://192.0.2.7:4321'],
  [{ HOST: '2001:db8::7' }, 'http://[2001:db8::7]:4321'],
])('with %j the service calls itself %s', (env, origin) => {
  const address = new ServiceAddress(load({ PORT: '0', ...env }));
  address.listeningOn(4321);
  expect(address.origin).toBe(origin);
});
