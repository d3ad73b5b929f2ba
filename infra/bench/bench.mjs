// `npm run bench`: the figures that "Must reach" of the foundation names, against a bare server on the same PostgreSQL.
// README.md says what they mean. A benchmark and no test: it fails only when it cannot measure.
import { writeFileSync } from 'node:fs';
import { bootstrap, ensureBuild, ensurePrismaClient } from '../scripts/setup.mjs';
import { paint, seconds, stopWith } from '../scripts/steps.mjs';
import { Cleanup } from './cleanup.mjs';
import { HELP, readOptions } from './options.mjs';
import { load, machine, table } from './report.mjs';

const started = performance.now();
const options = chooseOptions();
await bootstrap();
await ensurePrismaClient();
const problems = await ensureBuild();
if (problems) stopWith(`${problems}\nThe sources do not compile.`);

const measures = {
  a: ['throughput', await import('./throughput.mjs')],
  b: ['latency', await import('./latency.mjs')],
  d: ['fan-out', await import('./fanout.mjs')],
  e: ['mailboxes of many rooms', await import('./rooms-mailbox.mjs')],
  j: ['workers', await import('./workers.mjs')],
  // These take a fresh api process.
  c: ['waiters', await import('./waiters.mjs')],
  g: ['WebSockets (g, h)', await import('./sockets.mjs')],
  i: ['files', await import('./transfer.mjs')],
  // Last, because a million messages stay.
  f: ['a million messages', await import('./million.mjs')],
};
const { openStage } = await import('./stage.mjs');

const say = (text) => console.log(paint('dim', `  ${text}`));
console.log(machine());
if (load() > 0.5)
  console.log(
    `Other work is running (load ${load()}): the figures prove little, repeat when it is quiet.`,
  );

const cleanup = new Cleanup();
let interrupted = false;
let opening = Promise.resolve();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (interrupted) process.exit(130);
    interrupted = true;
    // A cluster that is just being created cannot be removed yet.
    void opening
      .catch(() => {})
      .then(() => cleanup.run())
      .then(() => process.exit(130));
  });
}

try {
  const sizes = { waiters: options.sizes.c.waiters, profile: options.profile };
  opening = openStage(sizes, cleanup, say);
  const stage = await opening;
  const results = [];
  for (const [name, [title, { measure }]] of Object.entries(measures)) {
    if (!options.chosen.includes(name)) continue;
    console.log(`(${name}) ${title}`);
    results.push({ name, ...(await measure(stage, options.sizes[name], say)) });
  }
  results.sort((one, other) => one.name.localeCompare(other.name));
  console.log(`\n${table(results.flatMap(({ rows }) => rows)).join('\n')}`);
  console.log(`\n${seconds(started)}, load now ${load()}`);
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report(results), null, 2)}\n`);
} catch (error) {
  if (!interrupted) {
    console.error(error);
    process.exitCode = 1;
  }
} finally {
  await cleanup.run();
}

function chooseOptions() {
  try {
    const read = readOptions(process.argv.slice(2));
    if (!read.help) return read;
    console.log(HELP);
    process.exit();
  } catch (error) {
    return stopWith(`${error.message}\n\n${HELP}`);
  }
}

function report(results) {
  const figures = Object.fromEntries(results.map(({ name, rows, raw }) => [name, { rows, raw }]));
  return { at: new Date().toISOString(), machine: machine(), quick: options.quick, figures };
}
