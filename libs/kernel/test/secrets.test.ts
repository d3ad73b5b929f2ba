import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  ConfigError,
  kernelSettings,
  loadConfig,
  loadSecretKey,
  requireSharedKey,
  Secrets,
} from '@relayger/kernel';

const secrets = new Secrets(Buffer.alloc(32, 1));

test('what is sealed opens for the same purpose and row only', () => {
  const [row, text] = [randomUUID(), 'Grüße an 🐘\n'];
  const sealed = secrets.box('letters').seal(row, text);
  expect(secrets.box('letters').open(row, sealed)).toBe(text);
  expect(() => secrets.box('letters').open(randomUUID(), sealed)).toThrow('sealed');
  expect(() => secrets.box('other letters').open(row, sealed)).toThrow('sealed');
  const elsewhere = new Secrets(Buffer.alloc(32, 2));
  expect(() => elsewhere.box('letters').open(row, sealed)).toThrow('sealed');
});

test('a change of a single bit, or a shorter tag, does not open', () => {
  const row = randomUUID();
  const box = secrets.box('letters');
  const sealed = box.seal(row, 'text');
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
    expect(() => box.open(row, changed)).toThrow('sealed');
  }
  for (const length of [0, 12, 20, 27]) {
    expect(() => box.open(row, sealed.subarray(0, length))).toThrow('sealed');
  }
});

test('the same text is sealed differently every time, and digested the same', () => {
  const box = secrets.box('letters');
  expect(box.seal('row', 'text')).not.toEqual(box.seal('row', 'text'));
  expect(secrets.digest('names', 'ada')).toEqual(secrets.digest('names', 'ada'));
  expect(secrets.digest('names', 'ada')).not.toEqual(secrets.digest('places', 'ada'));
  expect(secrets.digest('names', 'ada')).toHaveLength(32);
});

test('without a key nothing is sealed', () => {
  expect(() => new Secrets(null).box('letters')).toThrow('SECRET_KEY');
});

describe('the key of the embedded database', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'relayger-key-'));
  });
  afterEach(() => rm(dir, { recursive: true }));
  const file = () => path.join(dir, 'data', 'secret-key');
  const load = () => loadSecretKey({ DATA_DIR: path.join(dir, 'data') });

  test('is made by the first start, for its owner alone, and read by the next ones', async () => {
    const [key, same] = await Promise.all([load(), load()]);
    expect(key).toHaveLength(32);
    expect(same).toEqual(key);
    expect(await load()).toEqual(key);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(Buffer.from(await readFile(file(), 'utf8'), 'base64')).toEqual(key);
  });

  test('is refused when others may read it or it is no key', async () => {
    await load();
    await chmod(file(), 0o640);
    await expect(load()).rejects.toThrow(ConfigError);
    await chmod(file(), 0o600);
    await writeFile(file(), 'c2hvcnQ=');
    await expect(load()).rejects.toThrow('32 bytes');
  });

  test('gives way to SECRET_KEY, and is not made beside a database of one’s own', async () => {
    const SECRET_KEY = Buffer.alloc(32, 7);
    expect(await loadSecretKey({ SECRET_KEY, DATA_DIR: dir })).toEqual(SECRET_KEY);
    const DATABASE_URL = 'postgresql://somewhere';
    expect(await loadSecretKey({ DATA_DIR: dir, DATABASE_URL })).toBeNull();
    await expect(stat(path.join(dir, 'secret-key'))).rejects.toThrow('ENOENT');
  });
});

test('SECRET_KEY is 32 bytes in base64, and required where several processes share what it seals', () => {
  const settings = (env: Record<string, string>) =>
    loadConfig(kernelSettings, env, [requireSharedKey]);
  const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
  const hosted = { DATABASE_URL: 'postgresql://db', SMTP_URL: 'smtp://localhost' };
  expect(settings({ ...hosted, SECRET_KEY }).SECRET_KEY).toHaveLength(32);
  expect(() => settings(hosted)).toThrow('SECRET_KEY must be set');
  expect(() => settings({ SECRET_KEY: 'c2hvcnQ=' })).toThrow('SECRET_KEY must be 32 bytes');
  settings({ SMTP_URL: 'smtp://localhost' });
  settings({ DATABASE_URL: 'postgresql://db' });
});
