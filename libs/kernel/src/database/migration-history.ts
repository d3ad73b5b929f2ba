import type { Migration } from './migration-files.js';
import { DatabaseStartupError } from './startup-error.js';

/** A row of `_prisma_migrations` that was not rolled back. */
export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  readonly finished: boolean;
}

/** Refuses to run on a database whose schema this build cannot vouch for. */
export function assertHistoryMatches(
  history: readonly AppliedMigration[],
  migrations: readonly Migration[],
): void {
  const byName = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, checksum, finished } of history) {
    const ours = byName.get(name);
    if (!ours) {
      throw new DatabaseStartupError(
        'migration_unknown',
        `The database has migration ${name}, which this build does not know: it was last used by a newer Relayger, start that one.`,
      );
    }
    if (!finished) {
      throw new DatabaseStartupError(
        'migration_failed',
        `Migration ${name} is marked as failed in the database: repair it, then mark it with "prisma migrate resolve".`,
      );
    }
    if (ours.checksum !== checksum) {
      throw new DatabaseStartupError(
        'migration_changed',
        `Migration ${name} was changed after it was applied to this database: restore its file and put the change into a new migration.`,
      );
    }
  }
}
