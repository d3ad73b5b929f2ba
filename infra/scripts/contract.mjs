// Writes openapi/*.json from libs/protocol. With --check it writes nothing and fails on a difference.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleProblems } from '../contract/examples.mjs';
import { buildMessageSchema } from '../contract/message-schema.mjs';
import { buildOpenapi } from '../contract/openapi.mjs';
import { loadProtocol } from '../contract/protocol.mjs';

process.chdir(join(import.meta.dirname, '../..'));
const check = process.argv.includes('--check');

const protocol = await loadProtocol();
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const problems = exampleProblems(protocol.OPERATIONS);
const openapi = buildOpenapi(protocol, version);
const files = {
  'openapi/openapi.json': openapi,
  'openapi/message.schema.json': buildMessageSchema(openapi),
};

for (const [file, content] of Object.entries(files)) {
  const wanted = `${JSON.stringify(content, null, 2)}\n`;
  if (!check) writeFileSync(file, wanted);
  else problems.push(...difference(file, wanted));
}

for (const problem of problems) console.error(`error ${problem}`);
const operations = protocol.OPERATIONS.length;
console.log(`contract: ${operations} operations, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

/** The first line that differs, with what to do about it. */
function difference(file, wanted) {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  if (text === wanted) return [];
  const committed = text.split('\n');
  const generated = wanted.split('\n');
  const at = generated.findIndex((line, index) => line !== committed[index]);
  const line = at < 0 ? generated.length : at;
  return [
    `${file}:${line + 1} differs from libs/protocol; run npm run contract\n` +
      `  in the file: ${committed[line]?.trim() ?? '(end)'}\n` +
      `  generated:   ${generated[line]?.trim() ?? '(end)'}`,
  ];
}
