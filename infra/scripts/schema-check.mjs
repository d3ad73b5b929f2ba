// Proves on a throw-away PostgreSQL that prisma/schema.prisma and prisma/migrations describe the same database, and
// that Prisma's own commands agree with the bookkeeping of our migration runner.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { run } from './steps.mjs';
import './typescript-sources.mjs';

const { startEmbeddedPostgres } = await import(
  '../../libs/kernel/src/database/embedded-postgres.ts'
);
const { migrate } = await import('../../libs/kernel/src/database/migrate.ts');

process.chdir(path.resolve(import.meta.dirname, '../..'));
const home = await mkdtemp(path.join(os.tmpdir(), 'relayger-schema-check-'));
const log = pino({ level: 'error' });
const { url, stop } = await startEmbeddedPostgres({
  dataDir: path.join(home, 'postgres'),
  log,
  durable: false,
});
try {
  const { applied } = await migrate(url, 'prisma/migrations', log);
  console.log(`Applied ${applied.length} migrations.`);
  const diff = ['--from-config-datasource', '--to-schema', 'prisma/schema.prisma', '--exit-code'];
  await prove(
    'prisma/schema.prisma differs from prisma/migrations; from the latter to the former:',
    [...['migrate', 'diff'], ...diff],
  );
  await prove(
    'Prisma does not see our migrations as applied:',
    ['migrate', 'status'],
    /up to date/,
  );
  await prove(
    'Prisma would apply something again:',
    ['migrate', 'deploy'],
    /No pending migrations/,
  );
} finally {
  await stop();
  await rm(home, { recursive: true });
}

async function prove(complaint, args, expected = /./) {
  const { code, output } = await run(['prisma', ...args], {
    DATABASE_URL: url,
    PRISMA_SCHEMA_ENGINE_BINARY: path.resolve('infra/scripts/prisma-schema-engine.mjs'),
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  });
  if (code === 0 && expected.test(output)) return;
  console.error(`${complaint}\n${output.trim()}`);
  process.exitCode = 1;
}
