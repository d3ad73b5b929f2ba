// Starts the cluster that a failed `npm test` kept (its last lines name the directory), until Ctrl+C.
import path from 'node:path';
import pino from 'pino';
import './typescript-sources.mjs';

const directory = process.argv[2];
if (!directory) {
  console.error('Usage: node infra/scripts/open-test-database.mjs <directory>');
  process.exit(2);
}
const { startEmbeddedPostgres } = await import(
  '../../libs/kernel/src/database/embedded-postgres.ts'
);
const { url, stop } = await startEmbeddedPostgres({
  dataDir: path.join(directory, 'postgres'),
  log: pino({ level: 'warn' }),
  durable: false,
});
console.log(new URL('/postgres', url).href);
process.once('SIGINT', stop);
