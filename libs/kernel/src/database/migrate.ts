import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Logger } from 'pino';
import { type Migration, readMigrations } from './migration-files.js';
import { type AppliedMigration, assertHistoryMatches } from './migration-history.js';
import { DatabaseStartupError } from './startup-error.js';

/** The key Prisma's own engine takes, so that `prisma migrate deploy` and this runner exclude each other too. */
const LOCK_KEY = 72_707_369;

/** Prisma's table, to the letter: `prisma migrate status` and `deploy` read what we write, and the other way round. */
const CREATE_HISTORY = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

/**
 * Brings the database to this build's schema at start. One transaction a migration, its history row included, so a
 * crash leaves it either applied and recorded or not there at all. A statement that refuses transactions
 * (`CREATE INDEX CONCURRENTLY`) therefore cannot be a migration.
 *
 * Processes that start together take turns on a session lock; the later one finds nothing left to do.
 */
export async function migrate(
  connectionString: string,
  migrationsDir: string,
  log: Logger,
): Promise<{ applied: string[] }> {
  const migrations = await readMigrations(migrationsDir);
  const client = new pg.Client({ connectionString, application_name: 'relayger-migrate' });
  try {
    await client.connect();
  } catch (cause) {
    throw new DatabaseStartupError(
      'server_failed',
      `The database cannot be used now: ${cause instanceof Error ? cause.message || String(cause) : String(cause)}; check DATABASE_URL.`,
      { cause },
    );
  }
  try {
    await takeLock(client, log);
    await client.query(CREATE_HISTORY);
    const { rows } = await client.query<AppliedMigration>(
      `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
         FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
    );
    assertHistoryMatches(rows, migrations);

    const known = new Set(rows.map(({ name }) => name));
    const pending = migrations.filter(({ name }) => !known.has(name));
    for (const migration of pending) {
      await apply(client, migration);
      log.info({ migration: migration.name }, 'applied a database migration');
    }
    return { applied: pending.map(({ name }) => name) };
  } finally {
    // Ends the session, and with it the lock.
    await client.end();
  }
}

async function takeLock(client: pg.Client, log: Logger): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>(
    'SELECT pg_try_advisory_lock($1) AS taken',
    [LOCK_KEY],
  );
  if (rows[0]?.taken) return;
  log.info('another process is migrating the database, waiting for it');
  await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    );
    await client.query('COMMIT');
  } catch (cause) {
    throw new DatabaseStartupError(
      'migration_failed',
      `Migration ${name} failed and was rolled back: ${where(cause, sql)}`,
      {
        cause,
      },
    );
  }
}

/** PostgreSQL reports a character position; people look for a line. */
function where(cause: unknown, sql: string): string {
  if (!(cause instanceof pg.DatabaseError)) return String(cause);
  const line = cause.position ? sql.slice(0, Number(cause.position)).split('\n').length : undefined;
  return line === undefined ? cause.message : `${cause.message} (line ${line})`;
}
