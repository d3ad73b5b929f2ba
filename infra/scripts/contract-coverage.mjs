// What of the HTTP contract no test has reached, from the log that the test client writes in a whole `npm test`.
// --tags accounts,contacts looks at the operations of those tags only.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadProtocol } from '../contract/protocol.mjs';

/** Answered in one place for every operation alike, so one test of each is enough. */
const ONCE = new Set([
  'internal',
  'unavailable',
  'origin_not_allowed',
  'token_in_query',
  'rate_limited',
  'body_too_large',
  'unsupported_media_type',
]);

const { values } = parseArgs({ options: { tags: { type: 'string' } } });
const file =
  process.env.RELAYGER_CONTRACT_LOG ?? join(import.meta.dirname, '../../.cache/contract.jsonl');
if (!existsSync(file)) {
  console.error(`There is no ${file}; run npm test first.`);
  process.exit(1);
}

const { OPERATIONS, TAGS, ERRORS, operationErrors } = await loadProtocol();
const tags = values.tags?.split(',') ?? Object.keys(TAGS);
const unknown = tags.filter((tag) => !(tag in TAGS));
if (unknown.length > 0) {
  console.error(`No such tag: ${unknown.join(', ')}. There are ${Object.keys(TAGS).join(', ')}.`);
  process.exit(1);
}

const reached = new Set();
for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
  const { operation, status, code } = JSON.parse(line);
  reached.add(`${operation} ${code ?? status}`);
  if (code) reached.add(code);
}

const operations = OPERATIONS.filter(({ tag }) => tags.includes(tag));
let missing = 0;
for (const operation of operations) {
  const { id, responses, params, query, body } = operation;
  // Where nothing can be malformed, only the general reading of the request can fail.
  const hasInput = params || query || body;
  const codes = operationErrors(operation).filter(
    (code) => !ONCE.has(code) && (hasInput || code !== 'invalid_request'),
  );
  const open = [...Object.keys(responses), ...codes].filter(
    (what) => !reached.has(`${id} ${what}`),
  );
  if (open.length > 0) console.log(`${id}: ${open.join(', ')}`);
  missing += open.length;
}

// With --tags only what these operations can answer; without, the whole catalogue.
const catalogue = values.tags ? new Set(operations.flatMap(operationErrors)) : Object.keys(ERRORS);
const nowhere = [...catalogue].filter((code) => !reached.has(code));
if (nowhere.length > 0) console.log(`by no operation: ${nowhere.join(', ')}`);
missing += nowhere.length;

console.log(`contract coverage: ${operations.length} operations, ${missing} answers not reached`);
process.exitCode = missing > 0 ? 1 : 0;
