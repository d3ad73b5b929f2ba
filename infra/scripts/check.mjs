// `npm run check`: every static check, one line each; the output only of those that fail.
import { bootstrap, ensurePrismaClient } from './setup.mjs';
import { paint, run, seconds } from './steps.mjs';

/** In the order in which a mistake is cheapest to read. */
const checks = [
  ['types', 'tsc -p tsconfig.check.json'],
  ['biome', 'biome ci --diagnostic-level=warn --error-on-warnings .'],
  ['eslint', 'eslint --max-warnings=0 .'],
  ['boundaries', 'node infra/scripts/boundaries.mjs'],
  ['knip', 'knip --no-config-hints'],
  ['house rules', 'node infra/scripts/house.mjs'],
  ['schema', 'node infra/scripts/schema-check.mjs'],
  ['contract', 'node infra/scripts/contract.mjs --check'],
];

await bootstrap();
await ensurePrismaClient();

let failures = 0;
for (const [name, command] of checks) {
  const started = performance.now();
  const { code, output } = await run(command.split(' '));
  const mark = code === 0 ? paint('green', '✓') : paint('red', '✗');
  console.log(`${mark} ${name.padEnd(12)} ${paint('dim', seconds(started))}`);
  if (code === 0) continue;
  failures += 1;
  console.log(`${output.trimEnd()}\n${paint('dim', `again: ${command}`)}`);
}
process.exitCode = failures > 0 ? 1 : 0;
