// Runs .dependency-cruiser.cjs over libs/ and apps/, and makes sure that it saw the code: a
// resolver that finds nothing reports no violations either.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, format } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';

process.chdir(join(import.meta.dirname, '../..'));

const exclude = ['dist', 'node_modules', 'generated', '.next'].map((name) => `**/${name}`);
const sources = globSync('{libs,apps}/*/**/*.{ts,tsx,mts,cts}', { exclude })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !file.endsWith('.d.ts'));

const { output: result } = await cruise(
  sources,
  await extractDepcruiseOptions('./.dependency-cruiser.cjs'),
  {},
  { tsConfig: extractTSConfig('./tsconfig.check.json') },
);
const report = await format(result, { outputType: 'err' });
const problems = new Set();

const seen = new Set(result.modules.map((module) => module.source));
for (const file of sources) {
  if (!seen.has(file)) problems.add(`not analysed: ${file}`);
}
for (const home of ['libs/protocol/src/', 'libs/kernel/src/', 'apps/api/src/']) {
  if (!sources.some((file) => file.startsWith(home))) problems.add(`no source under ${home}`);
}

const crossings = result.modules
  .flatMap((module) => module.dependencies)
  .filter((dependency) => dependency.module.startsWith('@relayger/'));
for (const { module, resolved } of crossings) {
  if (!/^(?:libs|apps)\/[^/]+\/(?:src|test)\//.test(resolved))
    problems.add(`${module} resolved to ${resolved}`);
}
if (crossings.length === 0) problems.add('not one @relayger/* import was resolved');

console.log(report.output.trim());
console.log(`boundaries: ${sources.length} files, ${crossings.length} imports between libs`);
for (const problem of problems) console.error(`error ${problem}`);
process.exitCode = report.exitCode > 0 || problems.size > 0 ? 1 : 0;
