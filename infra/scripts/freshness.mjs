import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const STAMPS = '.cache/stamps';

/** Contents, not times: `git checkout` and a restored CI cache touch times at will (25 ms for 200 files). */
export function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files.filter((name) => existsSync(name)).sort()) {
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

export function isFresh(name, inputs) {
  const stamp = path.join(STAMPS, name);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs;
}

export function markFresh(name, inputs) {
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(path.join(STAMPS, name), inputs);
}

/** Everything that `tsc -b` reads in our workspaces, and the workspaces it builds. */
export function sourceFiles() {
  const projects = ['libs', 'apps']
    .flatMap((group) => readdirSync(group).map((name) => path.join(group, name)))
    .filter((project) => existsSync(path.join(project, 'tsconfig.json')));
  const files = projects.flatMap((project) => {
    const src = path.join(project, 'src');
    const sources = existsSync(src)
      ? readdirSync(src, { recursive: true, withFileTypes: true })
      : [];
    return [
      path.join(project, 'package.json'),
      path.join(project, 'tsconfig.json'),
      ...sources
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name)),
    ];
  });
  return { files, projects };
}
