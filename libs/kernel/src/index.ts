export { type AuditEntry, recordAudit } from './audit/record-audit.js';
export { bool, ConfigError, environment, int, loadConfig } from './config/config.js';
export {
  CONFIG,
  type KernelConfig,
  kernelSettings,
  requireSharedKey,
} from './config/kernel.config.js';
export { Batcher } from './database/batcher.js';
export { Database } from './database/database.js';
export { startEmbeddedPostgres } from './database/embedded-postgres.js';
export { isRetryable, isUnavailable, violatedConstraint } from './database/failures.js';
export { joinEmbeddedPostgres } from './database/join-embedded-postgres.js';
export { migrate } from './database/migrate.js';
export { onceCommitted, type Sql, statement, type Transaction } from './database/sql.js';
export { DatabaseStartupError } from './database/startup-error.js';
export { receiveBytes } from './http/bytes-body.js';
export { type Handshake, handshakeOf } from './http/handshakes.js';
export { createHttpAdapter } from './http/http-server.js';
export { parseJsonText } from './http/json-text.js';
export {
  Body,
  Caller,
  Client,
  Operation,
  Params,
  Query,
  Rate,
} from './http/operation.decorator.js';
export {
  Authenticator,
  hasScope,
  isAdmin,
  mayUseRoom,
  type Principal,
  requireScopes,
} from './http/principal.js';
export type { RateState } from './http/rate-window.js';
export { rawMember } from './http/raw-json.js';
export type { ApiRequest } from './http/request.js';
export { ServiceAddress } from './http/service-address.js';
export { expiredSessionCookie, sessionCookie } from './http/session-cookie.js';
export { Poller } from './jobs/poller.js';
export { KernelModule, type KernelParts } from './kernel.module.js';
export { createLogger, LOGGER, type Logger, NestLog } from './log/logger.js';
export { composeMail } from './mail/compose-mail.js';
export type { MailText } from './mail/mail.js';
export { MailOutbox } from './mail/mail-outbox.js';
export { loadSecretKey } from './secrets/secret-key.js';
export { SealError, Secrets } from './secrets/secrets.js';
export { openStorage } from './storage/open-storage.js';
export { requireWholeS3 } from './storage/storage.config.js';
export { MissingObjectError, newObjectKey, Storage, StorageError } from './storage/storage.js';
export type { Follower, Subscription } from './wake/subscription.js';
export { WakeHub } from './wake/wake-hub.js';
export { WakeTransport } from './wake/wake-transport.js';
