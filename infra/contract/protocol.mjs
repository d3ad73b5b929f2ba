// The contract as the built library has it.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Builds libs/protocol where it changed, and loads it. */
export async function loadProtocol() {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'libs/protocol'], {
    cwd: root,
    stdio: 'inherit',
  });
  return import('@relayger/protocol');
}
