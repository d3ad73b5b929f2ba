/** Why the database could not be made ready; tests and `main.ts` switch on it, people read the message. */
export type DatabaseStartupReason =
  | 'data_dir_in_use'
  | 'not_a_cluster'
  | 'wrong_major_version'
  | 'wrong_owner'
  | 'password_missing'
  | 'no_binaries'
  | 'root_not_possible'
  | 'server_failed'
  | 'migration_changed'
  | 'migration_unknown'
  | 'migration_failed';

/**
 * A start that was refused for a reason the operator can act on. The message is one complete line that says what to
 * do, so `main.ts` prints it without a stack and exits 1.
 */
export class DatabaseStartupError extends Error {
  override readonly name = 'DatabaseStartupError';
  readonly reason: DatabaseStartupReason;

  constructor(reason: DatabaseStartupReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
