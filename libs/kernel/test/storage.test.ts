import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  kernelSettings,
  loadConfig,
  MissingObjectError,
  newObjectKey,
  openStorage,
  requireWholeS3,
  type Storage,
  StorageError,
} from '@relayger/kernel';
import { type S3Server, startS3Server } from '@relayger/kernel/testing';

const open = (env: Record<string, string>) =>
  openStorage(loadConfig(kernelSettings, env, [requireWholeS3]));

/** Bytes in pieces, as a client sends them. */
async function* pieces(bytes: Buffer, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    await sleep(0);
    yield bytes.subarray(at, at + size);
  }
}
async function* broken(bytes: Buffer, error: Error): AsyncGenerator<Uint8Array> {
  yield* pieces(bytes);
  throw error;
}
async function read(storage: Storage, key: string): Promise<Buffer> {
  const got: Buffer[] = [];
  for await (const piece of await storage.get(key)) got.push(piece as Buffer);
  return Buffer.concat(got);
}
/** Every file below a directory, with its mode. */
async function filesBelow(root: string): Promise<{ file: string; mode: number }[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return { file: path.relative(root, file), mode: (await stat(file)).mode & 0o777 };
    }),
  );
}

let dataDir: string;
let s3: S3Server;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'relayger-storage-'));
  s3 = await startS3Server();
});
afterAll(async () => {
  await s3.stop();
  await rm(dataDir, { recursive: true });
});

interface Kind {
  kind: string;
  env: () => Record<string, string>;
  /** Keys of what is there, finished or not. */
  keys: () => Promise<string[]>;
}
const kinds: Kind[] = [
  {
    kind: 'disk',
    env: () => ({ DATA_DIR: dataDir }),
    keys: async () =>
      (await filesBelow(path.join(dataDir, 'files')).catch(() => [])).map(({ file }) =>
        path.basename(file),
      ),
  },
  { kind: 'S3', env: () => s3.env, keys: async () => [...s3.objects.keys()] },
];

describe.each(kinds)('a storage on $kind', ({ env, keys }) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open(env());
  });
  afterAll(() => storage.close());

  test('gives back what it was given, byte by byte', async () => {
    for (const size of [0, 1, 65_535, 65_536, 3_000_000]) {
      const bytes = randomBytes(size);
      const key = newObjectKey();
      await storage.put(key, pieces(bytes), size);
      expect((await read(storage, key)).equals(bytes)).toBe(true);
    }
  });

  test('has no object that was deleted or never there, and deleting it again does no harm', async () => {
    const key = newObjectKey();
    await expect(storage.get(key)).rejects.toThrow(MissingObjectError);
    await storage.delete(key);
    await storage.put(key, pieces(Buffer.from('x')), 1);
    await storage.delete(key);
    await storage.delete(key);
    await expect(storage.get(key)).rejects.toThrow(MissingObjectError);
  });

  test('keeps nothing of bytes that break off, and tells why they did', async () => {
    const before = await keys();
    for (const sent of [0, 10, 2_000_000]) {
      const error = new Error('the client hung up');
      const storing = storage.put(newObjectKey(), broken(randomBytes(sent), error), 3_000_000);
      await expect(storing).rejects.toBe(error);
    }
    expect(await keys()).toEqual(before);
  });

  test('keeps nothing that is shorter or longer than announced', async () => {
    const before = await keys();
    for (const size of [0, 99_999, 100_001]) {
      const storing = storage.put(newObjectKey(), pieces(randomBytes(100_000)), size);
      await expect(storing).rejects.toThrow(/100000|an object of/);
    }
    expect(await keys()).toEqual(before);
  });

  test('stores many objects at once', async () => {
    const objects = Array.from({ length: 20 }, () => ({
      key: newObjectKey(),
      bytes: randomBytes(100_000),
    }));
    await Promise.all(objects.map(({ key, bytes }) => storage.put(key, pieces(bytes), 100_000)));
    for (const { key, bytes } of objects)
      expect((await read(storage, key)).equals(bytes)).toBe(true);
  });

  test('hands bytes out no faster than they are read', async () => {
    const size = 8_388_608;
    const bytes = randomBytes(size);
    const key = newObjectKey();
    await storage.put(key, pieces(bytes), size);
    const stream = await storage.get(key);
    await new Promise((resolve) => stream.once('readable', resolve));
    await sleep(50);
    expect(stream.readableLength).toBeLessThan(1_000_000);
    stream.destroy();
  });

  test('takes no key but its own kind', async () => {
    for (const key of ['', 'report.pdf', '../../etc/passwd', 'A'.repeat(48), '0'.repeat(47)]) {
      await expect(storage.put(key, pieces(Buffer.alloc(1)), 1)).rejects.toThrow('no object key');
      await expect(storage.get(key)).rejects.toThrow('no object key');
      await expect(storage.delete(key)).rejects.toThrow('no object key');
    }
  });
});

describe('on disk', () => {
  test('only the user of the service can read objects, and they lie in folders by their first characters', async () => {
    const root = await mkdtemp(path.join(dataDir, 'modes-'));
    const storage = await open({ DATA_DIR: root });
    const key = newObjectKey();
    await storage.put(key, pieces(Buffer.from('x')), 1);
    expect(await filesBelow(root)).toEqual([
      { file: path.join('files', key.slice(0, 2), key), mode: 0o600 },
    ]);
    for (const folder of ['files', path.join('files', key.slice(0, 2))])
      expect((await stat(path.join(root, folder))).mode & 0o777).toBe(0o700);
  });

  test('what a process that died left unfinished is tidied up, but not what is being written', async () => {
    const root = await mkdtemp(path.join(dataDir, 'tidy-'));
    const storage = await open({ DATA_DIR: root });
    await storage.tidy();
    await storage.put(newObjectKey(), pieces(Buffer.from('x')), 1);
    const unfinished = path.join(root, 'files', 'unfinished');
    const long = new Date(Date.now() - 3_700_000);
    await writeFile(path.join(unfinished, 'old'), 'x');
    await utimes(path.join(unfinished, 'old'), long, long);
    await writeFile(path.join(unfinished, 'new'), 'x');
    await Promise.all([storage.tidy(), storage.tidy()]);
    expect(await readdir(unfinished)).toEqual(['new']);
  });

  test('a place that cannot be written is a storage failure', async () => {
    const file = path.join(dataDir, 'not-a-directory');
    await writeFile(file, '');
    const storage = await open({ DATA_DIR: file });
    await expect(storage.put(newObjectKey(), pieces(Buffer.alloc(1)), 1)).rejects.toThrow(
      StorageError,
    );
  });
});

describe('on S3', () => {
  let storage: Storage;
  beforeEach(async () => {
    storage = await open(s3.env);
  });
  afterEach(() => {
    s3.fail(null);
    storage.close();
  });
  const put = () => storage.put(newObjectKey(), pieces(Buffer.alloc(100_000)), 100_000);

  test('errors and broken connections are storage failures, and pass', async () => {
    for (const fault of ['error', 'reset'] as const) {
      s3.fail(fault);
      await expect(put()).rejects.toThrow(StorageError);
      await expect(storage.get(newObjectKey())).rejects.toThrow(StorageError);
      await expect(storage.get(newObjectKey())).rejects.not.toThrow(MissingObjectError);
      await expect(storage.delete(newObjectKey())).rejects.toThrow(StorageError);
    }
    s3.fail(null);
    await put();
  });

  test('a server that is not there yet is a storage failure, and works when it is', async () => {
    await s3.stop();
    await expect(put()).rejects.toThrow(StorageError);
    await s3.start();
    await put();
  });

  test('a wrong secret, region or bucket is refused by the server', async () => {
    for (const name of ['S3_SECRET_ACCESS_KEY', 'S3_ACCESS_KEY_ID', 'S3_REGION', 'S3_BUCKET']) {
      const other = await open({ ...s3.env, [name]: 'another' });
      const storing = other.put(newObjectKey(), pieces(Buffer.alloc(1)), 1);
      await expect(storing).rejects.toThrow(StorageError);
      other.close();
    }
  });
});

describe('the settings', () => {
  test('of S3 are all there or none is', () => {
    const load = (env: Record<string, string>) => () =>
      loadConfig(kernelSettings, env, [requireWholeS3]);
    for (const absent of Object.keys(s3.env)) {
      const { [absent]: _, ...rest } = s3.env;
      expect(load(rest)).toThrow(`${absent} must be set too, or none of the S3_ settings`);
    }
    expect(load({})().S3_BUCKET).toBeUndefined();
    for (const S3_ENDPOINT of ['s3.example', 'ftp://s3.example', 'https://s3.example/bucket'])
      expect(load({ ...s3.env, S3_ENDPOINT })).toThrow('S3_ENDPOINT must be an origin');
    expect(load({ ...s3.env, S3_BUCKET: 'a/b' })).toThrow('S3_BUCKET must be the name of a bucket');
  });
});
