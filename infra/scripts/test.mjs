// `npm test`: static checks, then every test. `npm test <jest arguments>`: only jest, for a quick look at one file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { bootstrap, ensureBuild, ensurePrismaClient } from './setup.mjs';

const args = process.argv.slice(2);
await bootstrap();
await ensurePrismaClient();
// Tests run from the sources; only those that start separate processes use the build. The type check reports the rest.
const problems = await ensureBuild();
if (problems)
  console.log('The sources do not compile, tests of separate processes see the last build.');

// What the whole run reaches of the contract, for `npm run contract:coverage`.
const contractLog = path.resolve('.cache/contract.jsonl');

const checksPassed = args.length > 0 || (await runNode(['infra/scripts/check.mjs'])) === 0;
const testsPassed = await runJest();
process.exitCode = checksPassed && testsPassed ? 0 : 1;

async function runJest() {
  if (args.length === 0) {
    rmSync(contractLog, { force: true });
    process.env.RELAYGER_CONTRACT_LOG ??= contractLog;
  }
  const report = `.cache/jest-${process.pid}.json`;
  const code = await runNode([
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    '--json',
    `--outputFile=${report}`,
    ...args,
  ]);
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'));
    // A file that does not load has no failed tests, and is a failure all the same.
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    const checks = checksPassed ? '' : ', static checks failed';
    console.log(`${result.numPassedTests} passed, ${failed} failed${checks}`);
  } catch {
    console.log('Jest did not get as far as a result.');
  }
  rmSync(report, { force: true });
  return code === 0;
}

async function runNode(nodeArgs) {
  const child = spawn(process.execPath, nodeArgs, { stdio: 'inherit' });
  // Ctrl+C and npm's own forwarding reach jest as well; we wait for it to clean up.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  return code ?? 1;
}
