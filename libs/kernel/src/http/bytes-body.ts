import { type BytesBody, fail, failField, OPERATIONS } from '@relayger/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Calls that take bytes, by method and route as the router knows them. */
const ROUTES = new Set(
  OPERATIONS.filter(({ bytes }) => bytes).map(
    ({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
  ),
);

/** Whether the body of this request is read by its handler, as it arrives. */
export function takesBytes({ method, routeOptions }: FastifyRequest): boolean {
  return ROUTES.has(`${method} ${routeOptions.url}`);
}

/** Whether the client waits to be told that its body is wanted (RFC 9110 section 10.1.1). */
export function awaitsContinue({ headers }: FastifyRequest): boolean {
  return headers.expect?.toLowerCase() === '100-continue';
}

/**
 * The length of a body of bytes, as announced.
 * @throws RelaygerError `length_required`, `file_too_large`
 */
export function requireLength({ maxBytes }: BytesBody, { headers }: FastifyRequest): number {
  const length = headers['content-length'];
  if (length === undefined) fail('length_required');
  // The parser has made sure that it is a number, and the only one.
  if (Number(length) > maxBytes) fail('file_too_large', { limitBytes: maxBytes });
  return Number(length);
}

/**
 * The body of a call that takes bytes, piece by piece, only as fast as it is read. A request whose body is left unread
 * is answered all the same, and its connection goes on.
 * @param idleMs how long the next piece may take
 * @throws RelaygerError `invalid_request` when the body stalls or breaks off
 */
export async function* receiveBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  idleMs: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (awaitsContinue(request)) reply.raw.writeContinue();
  const pieces = request.raw.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const piece = await within(pieces.next(), idleMs);
      if (!piece) {
        // Nothing can come after half a body.
        void reply.header('connection', 'close');
        // Whoever hung up does not read this, but whoever stalled may.
        failField('body', 'broke off or stalled before all the bytes of Content-Length had come');
      }
      if (piece.done) return;
      yield piece.value as Uint8Array;
    }
  } finally {
    // Node itself only discards what nobody has begun to read, and the rest would stand before the next request. The
    // iterator must have let go of the stream first.
    void pieces.return?.().catch(() => {});
    setImmediate(() => request.raw.resume());
  }
}

/** What comes in time, or null. */
async function within<T>(next: Promise<T>, ms: number): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), ms);
  // Also keeps one that fails later, when the connection breaks, from ending the process.
  const settled = next.catch(() => null);
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}
