import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { exactly } from './exactly.js';
import { MissingObjectError, requireObjectKey, Storage, StorageError } from './storage.js';

/** Read at once. Two of these per download are in memory when the client is slower than the disk. */
const PIECE = 65_536;
/** Longer than any upload may take, so that what is still being written is never taken for a leftover. In ms. */
const LEFTOVER_MS = 3_600_000;
const PRIVATE = { file: 0o600, directory: 0o700 };

/** Objects as files of one directory, 256 folders by the first characters of the key. */
export class DiskStorage extends Storage {
  private readonly unfinished: string;

  constructor(private readonly root: string) {
    super();
    // Below the root, so on the same file system: only there a rename is one step.
    this.unfinished = path.join(root, 'unfinished');
  }

  /** Written under another name, flushed, renamed, and the name flushed: power may go at any point. */
  async put(key: string, bytes: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    const target = this.pathOf(key);
    const temporary = path.join(this.unfinished, key);
    const handle = await storing(async () => {
      await mkdir(this.unfinished, { recursive: true, mode: PRIVATE.directory });
      return open(temporary, 'wx', PRIVATE.file);
    });
    await write(handle, exactly(bytes, size), temporary);
    await storing(async () => {
      const folder = path.dirname(target);
      const made = await mkdir(folder, { recursive: true, mode: PRIVATE.directory });
      await rename(temporary, target);
      await flush(folder);
      if (made) await flush(this.root);
    }).catch(async (error: unknown) => {
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    });
  }

  async get(key: string): Promise<Readable> {
    const file = this.pathOf(key);
    const handle = await storing(() => open(file, 'r').catch(nullIfMissing));
    if (!handle) throw new MissingObjectError('no such object');
    return handle.createReadStream({ highWaterMark: PIECE });
  }

  async delete(key: string): Promise<void> {
    const target = this.pathOf(key);
    await storing(() => rm(target, { force: true }));
  }

  async tidy(): Promise<void> {
    await storing(async () => {
      const names = await readdir(this.unfinished).catch(nullIfMissing);
      for (const name of names ?? []) {
        const file = path.join(this.unfinished, name);
        const found = await stat(file).catch(nullIfMissing);
        if (found && Date.now() - found.mtimeMs > LEFTOVER_MS) await rm(file, { force: true });
      }
    });
  }

  close(): void {}

  private pathOf(key: string): string {
    requireObjectKey(key);
    return path.join(this.root, key.slice(0, 2), key);
  }
}

/** Writes all of it and flushes it to the disk; on failure the file is gone again. */
async function write(
  handle: FileHandle,
  bytes: AsyncIterable<Uint8Array>,
  temporary: string,
): Promise<void> {
  try {
    for await (const piece of bytes) await storing(() => handle.writeFile(piece));
    await storing(() => handle.sync());
    await storing(() => handle.close());
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Makes the names in a directory durable. */
async function flush(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Runs what the file system does; its failures are those of the storage. */
async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new StorageError('the disk does not take or give this now', { cause });
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
