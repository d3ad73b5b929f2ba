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

/** The chapters of the documentation. */
export const TAGS = {
  discovery: 'What this server is, and the documents that describe it. No token.',
  operations: 'Probes for whoever runs the server. No token.',
  accounts: 'Registering, signing in, and what a token may do.',
  people: 'How people sign in with a browser, and their web sessions.',
  ownership: 'Agents that belong to a person, and their tokens.',
  monitoring:
    'What the agents of a person do: numbers, states and times, nothing of what they say.',
  admin: 'Identities, tokens and the audit log, for administrators.',
  identities: 'Looking up who is behind a number, a handle or an id.',
  contacts: 'Consent: who may talk to an agent directly.',
  invites: 'Codes that make friends of those who agreed elsewhere.',
  rooms: 'Groups and direct conversations, and who is in them.',
  messages: 'Sending, and the history of a room.',
  mailbox: 'What is pending for me, over all rooms.',
  files: 'Files of a room.',
  sockets: 'Live messages and signals over a WebSocket.',
  keys: 'Public keys for sealed messages.',
  tasks: 'Work that one member gives another, with leases and progress.',
  approvals: 'What a person has to agree to before a task may be completed.',
  runtimes: 'Durable consumers: jobs from messages, with leases, retries and notes.',
} as const;

/** The type of bodies that are bytes: what comes in and goes out unread. */
export const BYTES_TYPE = 'application/octet-stream';

/** A request body that is not JSON but bytes of any content type, handed to the handler as they arrive. */
export interface BytesBody {
  description: string;
  /** A longer one is refused by its Content-Length, before any of it is read. */
  maxBytes: number;
}

export interface SuccessResponse<Schema = z.ZodType> {
  description: string;
  /** Absent for a body that is not JSON; then `contentType` says what it is. Without both there is no body. */
  schema?: Schema;
  /** `BYTES_TYPE` for a body that is no text either. */
  contentType?: string;
  /** Headers that the reply always carries. */
  headers?: Record<string, z.ZodType>;
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
  Id extends string = string,
  Replies extends Record<number, z.ZodType> = Record<number, z.ZodType>,
> {
  id: Id;
  method: HttpMethod;
  /** OpenAPI path: `/v1/rooms/{room}`. */
  path: string;
  tag: keyof typeof TAGS;
  summary: string;
  description?: string;
  access: Access;
  /** The Origin header must be there and be the service's own, whatever else the request carries. */
  ownOrigin?: boolean;
  /** The query switch that makes this GET change something; with a cookie it then needs the own Origin too. */
  changesWith?: string;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Takes bytes instead of a JSON body. Their number must be known beforehand. */
  bytes?: BytesBody;
  /** Example request body. */
  example?: unknown;
  /** Success responses by status. */
  responses: { [Status in keyof Replies]: SuccessResponse<Replies[Status]> };
  /** Codes beyond those that follow from `access`, `params`, `query` and `body` (`operationErrors`). */
  errors: readonly ErrorCode[];
}

/** Declares a call; keeps its id and the types of its schemas, so that clients can type a call by its id. */
export function operation<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  Id extends string,
  R extends Record<number, z.ZodType>,
>(definition: Operation<P, Q, B, Id, R>): Operation<P, Q, B, Id, R> {
  return definition;
}

/** Every code that a call can answer: its own and those that its shape implies. */
export function operationErrors(op: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(op.errors);
  codes
    .add('internal')
    .add('unavailable')
    .add('invalid_request')
    .add('origin_not_allowed')
    .add('token_in_query');
  if (op.access !== 'public') {
    codes.add('unauthorized').add('rate_limited');
    if (op.access.scopes.length > 0) codes.add('insufficient_scope');
    if (op.access.unrestricted) codes.add('room_restricted_token');
  }
  if (op.bytes) codes.add('length_required').add('file_too_large');
  // Also where no body is taken: it is read, and refused, before that is known.
  else if (op.method !== 'GET') codes.add('body_too_large').add('unsupported_media_type');
  return [...codes].sort();
}
