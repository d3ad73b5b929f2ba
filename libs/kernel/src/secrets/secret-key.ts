import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from '../config/config.js';

/** Bytes of SECRET_KEY: the strength of the AES-256 keys that are derived from it. */
export const SECRET_KEY_BYTES = 32;

interface SecretKeySettings {
  SECRET_KEY?: Buffer | undefined;
  DATA_DIR: string;
  DATABASE_URL?: string | undefined;
}

/**
 * The key that everything sealed in the database depends on. Beside an embedded database it is made on the first
 * start and kept in its own file, so that a copy of the database alone opens nothing.
 * @returns null with a database of one's own and no SECRET_KEY, where the settings have nothing that needs one
 * @throws ConfigError when the file cannot be used
 */
export async function loadSecretKey({
  SECRET_KEY,
  DATA_DIR,
  DATABASE_URL,
}: SecretKeySettings): Promise<Buffer | null> {
  if (SECRET_KEY) return SECRET_KEY;
  if (DATABASE_URL) return null;
  const file = path.resolve(DATA_DIR, 'secret-key');
  try {
    await createKeyFile(file);
    return await readKeyFile(file);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError(`SECRET_KEY cannot be kept in ${file}: ${String(cause)}`, { cause });
  }
}

/** Does nothing when there is a file: a link, unlike a rename, never takes the place of another key. */
async function createKeyFile(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  if (await stat(file).catch(() => null)) return;
  const fresh = `${file}.${randomUUID()}`;
  try {
    const text = `${randomBytes(SECRET_KEY_BYTES).toString('base64')}\n`;
    // flush: a key that a power cut takes away again would take with it all that was sealed meanwhile.
    await writeFile(fresh, text, { mode: 0o600, flag: 'wx', flush: true });
    await link(fresh, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const directory = await open(path.dirname(file), 'r');
    await directory.sync().finally(() => directory.close());
  } finally {
    await rm(fresh, { force: true });
  }
}

async function readKeyFile(file: string): Promise<Buffer> {
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0) {
    throw new ConfigError(`SECRET_KEY: others may read ${file}; run chmod 600 on it`);
  }
  const key = Buffer.from((await readFile(file, 'utf8')).trim(), 'base64');
  if (key.length === SECRET_KEY_BYTES) return key;
  throw new ConfigError(
    `SECRET_KEY: ${file} does not hold ${SECRET_KEY_BYTES} bytes in base64; restore it from the backup of the database`,
  );
}
