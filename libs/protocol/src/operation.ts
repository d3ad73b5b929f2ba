import type { z } from 'zod';
import type { ErrorCode } from './errors.js';
import type { Scope } from './scopes.js';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may make a call: anybody, or the holder of a token with every one of these scopes. */
export type Access =
  | 'public'
  | {
      scopes: readonly Scope[];
      /** Refuses tokens that are limited to certain rooms. */
      unrestricted?: boolean;
    };

export interface SuccessResponse {
  description: string;
  /** Absent for a body that is not JSON; then `contentType` says what it is. */
  schema?: z.ZodType;
  contentType?: string;
  headers?: Record<string, string>;
  example?: unknown;
}

/**
 * One call of the HTTP contract. The server routes, authorizes and validates from it, OpenAPI is generated
 * from it, and clients type their requests with it: there is no second place to change.
 */
export interface Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  id: string;
  method: HttpMethod;
  /** OpenAPI path: `/v1/rooms/{room}`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  access: Access;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Example request body. */
  example?: unknown;
  /** Success responses by status. */
  responses: Record<number, SuccessResponse>;
  /** Codes beyond those that follow from `access`, `params`, `query` and `body` (`commonErrors`). */
  errors: readonly ErrorCode[];
}

/** Declares a call; keeps the literal types of its schemas. */
export function operation<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  definition: Operation<P, Q, B>,
): Operation<P, Q, B> {
  return definition;
}

/** Every code that a call can answer: its own and those that its shape implies. */
export function operationErrors(op: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(op.errors);
  codes.add('internal').add('unavailable').add('invalid_request').add('origin_not_allowed').add('token_in_query');
  if (op.access !== 'public') {
    codes.add('unauthorized').add('rate_limited');
    if (op.access.scopes.length > 0) codes.add('insufficient_scope');
    if (op.access.unrestricted) codes.add('room_restricted_token');
  }
  if (op.body) codes.add('body_too_large').add('unsupported_media_type');
  return [...codes].sort();
}
