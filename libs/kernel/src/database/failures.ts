/** SQLSTATE classes and codes that mean "not now": the server is away, restarting, full or too slow. */
const UNAVAILABLE = /^(08...|57P0[1-4]|57014|53[0-9]{3}|25006|XX000)$/;
const SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
]);
/** Messages of the driver that carry no code. */
const DRIVER =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after)/;

function codeOf(error: unknown): string {
  return typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string'
    ? error.code
    : '';
}

/** True when the database cannot be used now; the caller should answer 503 and the client retry. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (UNAVAILABLE.test(code) || SOCKET.has(code) || DRIVER.test(error.message)) return true;
  // Prisma wraps the driver's error: P1xxx are its connection errors, P2024 its pool timeout.
  if (/^(P1[0-9]{3}|P2024)$/.test(code)) return true;
  return error.cause !== undefined && isUnavailable(error.cause);
}

/** True when the statement lost a race and may simply run again: deadlock or serialization failure. */
export function isRetryable(error: unknown): boolean {
  return /^40(001|P01)$/.test(codeOf(error));
}

/** The unique constraint that a statement ran into, or null. */
export function violatedConstraint(error: unknown): string | null {
  if (codeOf(error) !== '23505' || typeof error !== 'object' || error === null) return null;
  return 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : '';
}
