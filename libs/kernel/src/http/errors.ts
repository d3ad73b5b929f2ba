import { HttpException } from '@nestjs/common';
import { ERRORS, type ErrorBody, errorStatus, LIMITS, RelaygerError } from '@relayger/protocol';
import { isUnavailable } from '../database/failures.js';
import { StorageError } from '../storage/storage.js';

/** Seconds that a client should wait when the server cannot serve; the database is usually back by then. */
const RETRY_AFTER = 2;

/** A failure before our handlers: what Fastify's own error codes mean in the catalogue. */
function fromFastify(error: Error & { code?: string; statusCode?: number }): RelaygerError | null {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new RelaygerError('body_too_large', { limitBytes: LIMITS.bodyBytes });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new RelaygerError('unsupported_media_type');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalid('header.content-length', 'does not match the length of the body');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return invalid('body', 'is empty but was announced as JSON; send at least {}');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return invalid('path', 'is not a valid address');
    default:
      // Whatever else Fastify blames on the client, such as the method QUERY without a content type.
      return error.code?.startsWith('FST_') && error.statusCode === 400
        ? invalid('request', 'is not a request that this service takes')
        : null;
  }
}

function invalid(path: string, message: string): RelaygerError {
  return new RelaygerError('invalid_request', { issues: [{ path, message }] });
}

/** Any thrown value as a catalogue error. What is not known becomes `internal`; its cause is for the log only. */
export function toRelaygerError(thrown: unknown): RelaygerError {
  if (thrown instanceof RelaygerError) return thrown;
  // Nest wraps Fastify's own errors; what we know by its code is inside.
  if (thrown instanceof HttpException && thrown.cause !== undefined)
    return toRelaygerError(thrown.cause);
  if (thrown instanceof StorageError || isUnavailable(thrown))
    return new RelaygerError('unavailable', { retryAfter: RETRY_AFTER }, { cause: thrown });
  const known = thrown instanceof Error ? fromFastify(thrown) : null;
  return known ?? new RelaygerError('internal', undefined, { cause: thrown });
}

/** Status, headers and body of a failed call. */
export function errorReply(error: RelaygerError, requestId: string) {
  const headers: Record<string, string> = {};
  const details = error.details as Record<string, unknown> | undefined;
  if (typeof details?.retryAfter === 'number') headers['retry-after'] = String(details.retryAfter);
  // RFC 6750 section 3: a 401 names the scheme.
  if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer';
  const body: ErrorBody = {
    error: {
      code: error.code,
      message: ERRORS[error.code].message,
      requestId,
      ...(details && { details }),
    },
  };
  return { status: errorStatus(error.code), headers, body };
}
