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

/** More failing files than this are no accident of a busy machine. */
const REPEATED_FILES = 3;

const checksPassed = args.length > 0 || (await runNode(['infra/scripts/check.mjs'])) === 0;
const testsPassed = await runJest();
process.exitCode = checksPassed && testsPassed ? 0 : 1;

/**
 * The whole run, and once more the files that failed, alone: what passes then was measured on a machine that had too
 * much else to do. It is named all the same, because a test that needs this is a defect to be fixed.
 */
async function runJest() {
  if (args.length > 0) return (await jest(args)).passed;
  rmSync(contractLog, { force: true });
  process.env.RELAYGER_CONTRACT_LOG ??= contractLog;
  const first = await jest([]);
  if (first.passed || first.failedFiles.length === 0 || first.failedFiles.length > REPEATED_FILES)
    return first.passed;
  console.log(`Once more, alone: ${first.failedFiles.join(' ')}`);
  const second = await jest(['--runInBand', '--runTestsByPath', ...first.failedFiles]);
  if (second.passed) console.log(`Passed the second time only: ${first.failedFiles.join(' ')}`);
  return second.passed;
}

async function jest(jestArgs) {
  const report = `.cache/jest-${process.pid}.json`;
  const code = await runNode([
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    '--json',
    `--outputFile=${report}`,
    ...jestArgs,
  ]);
  let failedFiles = [];
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'));
    // A file that does not load has no failed tests, and is a failure all the same.
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    const checks = checksPassed ? '' : ', static checks failed';
    console.log(`${result.numPassedTests} passed, ${failed} failed${checks}`);
    failedFiles = result.testResults
      .filter(({ status }) => status === 'failed')
      .map(({ name }) => path.relative('.', name));
  } catch {
    console.log('Jest did not get as far as a result.');
  }
  rmSync(report, { force: true });
  return { passed: code === 0, failedFiles };
}

async function runNode(nodeArgs) {
  const child = spawn(process.execPath, nodeArgs, { stdio: 'inherit' });
  // Ctrl+C and npm's own forwarding reach jest as well; we wait for it to clean up.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  return code ?? 1;
}
