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

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function codeOf(error: unknown): string {
  const code = field(error, 'code') ?? field(error, 'originalCode');
  return typeof code === 'string' ? code : '';
}

/** True when the database cannot be used now; the caller should answer 503 and the client retry. */
export function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const code = codeOf(error);
  const message = field(error, 'message');
  if (UNAVAILABLE.test(code) || SOCKET.has(code)) return true;
  if (typeof message === 'string' && DRIVER.test(message)) return true;
  // Prisma's own codes: P1xxx are connection errors, P2024 and P2037 a full pool and a full server.
  if (/^(P1[0-9]{3}|P2024|P2037)$/.test(code)) return true;
  // For everything else Prisma hides the driver's error in `meta`, as a plain object with the SQLSTATE.
  const hidden = field(field(error, 'meta'), 'driverAdapterError');
  return isUnavailable(field(error, 'cause')) || isUnavailable(hidden);
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
