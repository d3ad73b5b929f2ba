import { z } from 'zod';

/**
 * What kind of failure a code is. The kind alone decides the HTTP status (`ERROR_STATUS`) and, later, the
 * shape of an MCP tool result, so two codes of one kind can never answer differently.
 */
export type ErrorKind =
  | 'malformed'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'length_required'
  | 'too_large'
  | 'unsupported_media'
  | 'upgrade_required'
  | 'quota'
  | 'internal'
  | 'unavailable';

/** HTTP status of each kind (contract/http.md section 0). */
export const ERROR_STATUS: Readonly<Record<ErrorKind, number>> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  length_required: 411,
  too_large: 413,
  unsupported_media: 415,
  upgrade_required: 426,
  quota: 429,
  internal: 500,
  unavailable: 503,
};

export interface ErrorEntry {
  kind: ErrorKind;
  /** One English sentence for the caller: what is wrong and what to do. */
  message: string;
  /** Schema of `error.details`, absent when the code carries none. */
  details?: z.ZodType;
}

/** Details of every code that says when to come back. */
export const retryAfter = z
  .strictObject({
    retryAfter: z
      .int()
      .min(0)
      .describe('Seconds to wait; the same number is in the Retry-After header.'),
  })
  .meta({ examples: [{ retryAfter: 2 }] });
