// Owns an embedded PostgreSQL in a process of its own, so that the tests can kill it. `exit` as second argument: ends
// with process.exit() right away instead of waiting.
import pino from 'pino';
import '../../../infra/scripts/typescript-sources.mjs';

const { startEmbeddedPostgres } = await import('../src/database/embedded-postgres.ts');
const [dataDir, ending] = process.argv.slice(2);
const log = pino({ level: 'silent' });
try {
  const { url } = await startEmbeddedPostgres({ dataDir, log });
  console.log(url);
} catch (error) {
  console.log(`${error.reason}: ${error.message}`);
  process.exit(1);
}
if (ending === 'exit') process.exit(0);
setInterval(() => undefined, 60_000);
