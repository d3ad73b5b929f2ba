import type { LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

/** Injection token of the root logger. */
export const LOGGER = Symbol('relayger logger');

/** Fields that never reach a log line, wherever an object that is logged carries them. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'token',
  'password',
  'current',
  'newPassword',
  'recoveryKey',
  'code',
  'secret',
  'connectionString',
];

/**
 * What a log line tells of an error. A list of its own: errors of the database driver carry `detail` and `where`,
 * which quote rows and parameters. The code is renamed because `code` is the name of a secret here.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { type, message, stack } = pino.stdSerializers.err(error);
  const { code, constraint } = error as Error & { code?: unknown; constraint?: unknown };
  return { type, message, errorCode: code, constraint, stack };
}

/** JSON logs on standard output. Secrets are removed by name, one and two levels deep. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: '[redacted]',
      },
      serializers: { err: describeError },
    },
    destination ?? pino.destination({ sync: false, minLength: 0 }),
  );
}

/** Nest's own messages through our logger; its start-up chatter is debug. */
export class NestLog implements LoggerService {
  constructor(private readonly logger: Logger) {}
  log(message: unknown, context?: unknown) {
    this.logger.debug({ context }, String(message));
  }
  error(message: unknown, stack?: unknown, context?: unknown) {
    this.logger.error({ context, stack }, String(message));
  }
  warn(message: unknown, context?: unknown) {
    this.logger.warn({ context }, String(message));
  }
  debug(message: unknown, context?: unknown) {
    this.logger.debug({ context }, String(message));
  }
  verbose(message: unknown, context?: unknown) {
    this.logger.trace({ context }, String(message));
  }
}
