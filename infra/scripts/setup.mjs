// What every entry script does first: dependencies, the right Node, the Prisma client, the build. Each part is skipped
// when it is up to date, so a second `npm start` costs a fraction of a second. Runs on Node 20.19 or later.
import './require-node.mjs';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fingerprint, isFresh, markFresh, sourceFiles } from './freshness.mjs';
import { run, step, stopWith } from './steps.mjs';

/** What the server itself needs; the project's own Node 24 is preferred. */
const OLDEST_SERVER_NODE = [22, 19];

const root = path.resolve(import.meta.dirname, '../..');
const inRoot = (...parts) => path.join(root, ...parts);

/**
 * Returns in a process that can run the server. When this one cannot (the machine's Node is old, the first start came
 * before `npm ci` had brought Node 24), the script is run again by one that can, and this call never returns.
 */
export async function bootstrap() {
  process.chdir(root);
  stopWithParent();
  await ensureDependencies();

  const own = ownNode();
  if (own && own.version !== process.versions.node) await runAgainWith(own.binary);
  if (!own && !isAtLeast(OLDEST_SERVER_NODE)) {
    stopWith(
      `npm did not install the project's own Node 24 (are install scripts or optional packages switched off?): run "npm ci" with both, or use Node ${OLDEST_SERVER_NODE.join('.')} or later.`,
    );
  }
}

/** npm writes its list of what it installed as its last act, so an interrupted install is not mistaken for a whole one. */
async function ensureDependencies() {
  const installed = readJson('node_modules/.package-lock.json')?.packages ?? {};
  const wanted = Object.entries(readJson('package-lock.json').packages);
  const stale = wanted.some(([where, { version, optional, devOptional }]) => {
    if (!where.includes('node_modules/')) return false;
    const present = installed[where];
    // Optional packages are mostly binaries of other platforms.
    return present ? present.version !== version : !(optional || devOptional);
  });
  if (!stale) return;

  await step('Installing packages (a minute or two the first time)', async () => {
    const cli = process.env.npm_execpath;
    const npm = cli?.endsWith('npm-cli.js') ? [process.execPath, cli] : ['npm'];
    // The build needs the development packages also where NODE_ENV=production is set.
    const flags = [
      '--include=dev',
      '--include=optional',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    const { code, output } = await run([...npm, 'ci', ...flags]);
    if (code !== 0) {
      // npm's first lines are fields of the error (`code …`, `syscall …`); the sentence comes after them.
      const sentence = /^npm (?:error|ERR!) (?!code|syscall|errno|type|path|dest)(.+)/m.exec(
        output,
      );
      const reason = sentence?.[1] ?? output;
      stopWith(`npm could not install the packages: ${reason.trim()}`);
    }
  });
}

/** The generated client is not in git; it follows the schema. */
export async function ensurePrismaClient() {
  const inputs = fingerprint(['prisma/schema.prisma', 'prisma.config.ts', 'package-lock.json']);
  const client = 'libs/kernel/src/generated/prisma/client.ts';
  if (existsSync(client) && isFresh('prisma-client', inputs)) return;
  await step('Generating the database client', async () => {
    // Any existing file keeps Prisma from downloading its native engine, which generating does not use.
    const env = { PRISMA_SCHEMA_ENGINE_BINARY: inRoot('infra/scripts/prisma-schema-engine.mjs') };
    const { code, output } = await run(['prisma', 'generate', '--no-hints'], env);
    if (code !== 0) stopWith(`The database client could not be generated.\n${output}`);
    markFresh('prisma-client', inputs);
  });
}

/** Returns the compiler's output when the sources do not compile. */
export async function ensureBuild() {
  const { files, projects } = sourceFiles();
  const inputs = fingerprint([
    ...files,
    'package-lock.json',
    'tsconfig.base.json',
    'tsconfig.json',
  ]);
  const complete = projects.every((project) => existsSync(path.join(project, 'dist/.tsbuildinfo')));
  if (complete && isFresh('build', inputs)) return undefined;
  return step('Building', async () => {
    const { code, output } = await run([
      'tsc',
      '-b',
      '--pretty',
      String(Boolean(process.stdout.isTTY)),
    ]);
    if (code !== 0) return output;
    markFresh('build', inputs);
    return undefined;
  });
}

const isAtLeast = ([major, minor]) => {
  const [ourMajor, ourMinor] = process.versions.node.split('.').map(Number);
  return ourMajor > major || (ourMajor === major && ourMinor >= minor);
};

function ownNode() {
  const binary = inRoot('node_modules/node/bin/node');
  return existsSync(binary)
    ? { binary, version: readJson('node_modules/node/package.json').version }
    : undefined;
}

function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Signals are passed on, the exit code comes back; Ctrl+C reaches both, which a graceful shutdown ignores. */
async function runAgainWith(binary) {
  const child = spawn(binary, process.argv.slice(1), {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  await new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      process.exit(signal ? 128 + os.constants.signals[signal] : code),
    );
  });
}

/** Under `runAgainWith`: a parent that is killed hard must not leave the server running on its own. */
function stopWithParent() {
  if (!process.channel) return;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
