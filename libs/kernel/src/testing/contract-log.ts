import { appendFileSync } from 'node:fs';
import { OPERATIONS, type Operation } from '@relayger/protocol';

const written = new Set<string>();

/** Notes that a test saw this answer. Workers append whole short lines, which the kernel does not interleave. */
export function logReached(
  operation: Operation | undefined,
  status: number,
  code: string | undefined,
): void {
  // Set by whoever runs the tests for `npm run contract:coverage`; not a setting of the server.
  // eslint-disable-next-line no-restricted-properties
  const file = process.env.RELAYGER_CONTRACT_LOG;
  if (!file) return;
  const line = `${JSON.stringify({ operation: operation?.id, status, code })}\n`;
  if (written.has(line)) return;
  written.add(line);
  appendFileSync(file, line);
}

const routes = OPERATIONS.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The operation that a method and a path address, if any. */
export function operationAt(method: string, path: string): Operation | undefined {
  const pathname = path.split('?', 1)[0] ?? '';
  return routes.find(
    ({ operation, pattern }) => operation.method === method && pattern.test(pathname),
  )?.operation;
}
