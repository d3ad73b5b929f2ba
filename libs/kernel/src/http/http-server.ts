import { type IncomingMessage, maxHeaderSize, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { BYTES_TYPE, failField, LIMITS, RelaygerError } from '@relayger/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import type { Logger } from '../log/logger.js';
import { awaitsContinue, takesBytes } from './bytes-body.js';
import { errorReply, toRelaygerError } from './errors.js';
import { isHandshake, routeHandshakes } from './handshakes.js';
import { parseJsonText } from './json-text.js';
import { isOriginAllowed } from './origin-rule.js';
import type { ApiRequest } from './request.js';
import type { ServiceAddress } from './service-address.js';

interface HttpServerOptions {
  /** Own origin, for the Origin rule and for HSTS. */
  address: ServiceAddress;
  log: Logger;
  /** Whether the process is about to end. */
  isStopping: () => boolean;
  /** How long headers, and a body that is read at once, may take; in ms. */
  requestMs?: number;
}

/** Longer than a load balancer's usual 60 s, so that the balancer never reuses a connection we just closed. */
const KEEP_ALIVE_MS = 75_000;
/** A request, headers and body, must have arrived by then; a long-poll's wait does not count. */
const REQUEST_MS = 30_000;
/** The same for a body of bytes: 16 MiB over 0.25 Mbit/s. It may not stall in between (`receiveBytes`). */
const BYTES_MS = 600_000;
const TOO_LATE = 'ERR_HTTP_REQUEST_TIMEOUT';
const TWO_YEARS = 63_072_000;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
/** Names under which clients of other services put a token into an address, where every log on the way keeps it. */
const TOKEN_NAMES = new Set([
  'access_token',
  'api_key',
  'apikey',
  'auth_token',
  'authorization',
  'bearer',
  'bearer_token',
  'token',
]);

/** Fastify as every application of ours uses it: limits, JSON reading, security headers and the Origin rule. */
export function createHttpAdapter({
  address,
  log,
  isStopping,
  requestMs = REQUEST_MS,
}: HttpServerOptions): FastifyAdapter {
  const adapter = new FastifyAdapter({
    bodyLimit: LIMITS.bodyBytes,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { shouldUpgradeCallback: isHandshake },
    requestTimeout: BYTES_MS,
    connectionTimeout: 0,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId: () => uuid(),
    logger: false,
    routerOptions: { maxParamLength: 300 },
    skipMiddie: true,
    // Failures of the router itself come before every hook, so they bring their headers along.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      void reply.headers(securityHeaders(address.origin));
      const { status, headers, body } = errorReply(toRelaygerError(error), request.id);
      void reply.code(status).headers(headers).type('application/json; charset=utf-8').send(body);
    },
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, address.origin),
  });
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  routeHandshakes(fastify);

  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.headers(securityHeaders(address.origin, request.routeOptions.url));
    if (!takesBytes(request)) limitBody(request, reply, requestMs, address.origin);
    if (!isOriginAllowed(request, address)) return done(new RelaygerError('origin_not_allowed'));
    // The parsed names: percent-encoding must not carry a token past this check.
    const names = Object.keys(request.query as object);
    if (names.some((name) => TOKEN_NAMES.has(name.toLowerCase())))
      return done(new RelaygerError('token_in_query'));
    // Whatever bytes claim to be, nobody reads them: they all go past the parsers.
    if (takesBytes(request)) request.headers['content-type'] = BYTES_TYPE;
    done();
  });

  // Node would tell a client to go on before anybody has looked at its token. A body of bytes is asked for by the
  // handler that wants it; every other body is read, to be refused or not.
  fastify.server.headersTimeout = requestMs;
  fastify.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    fastify.server.emit('request', request, response);
  });
  fastify.addHook('preParsing', (request, reply, _payload, done) => {
    if (awaitsContinue(request) && !takesBytes(request)) reply.raw.writeContinue();
    done();
  });

  // Fastify says so on requests that come in while it closes. Those that were under way before, long-polls above all,
  // would leave their connections open, and the server would wait for clients that keep them.
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (isStopping()) void reply.header('connection', 'close');
    // A client that was never told to go on may leave its body out, and what it sends next must not be taken for it.
    if (awaitsContinue(request) && !request.raw.complete) void reply.header('connection', 'close');
    done(null, payload);
  });

  fastify.addHook('onResponse', (request, reply, done) => {
    const { principal } = request as ApiRequest;
    log.debug(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        identity: principal?.identityId,
      },
      'request',
    );
    done();
  });

  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      try {
        done(null, parseJson(request, body));
      } catch (error) {
        done(error as Error, undefined);
      }
    },
  );
  fastify.addContentTypeParser(BYTES_TYPE, (request, _payload, done) => {
    if (takesBytes(request) || request.is404) done(null);
    else done(new RelaygerError('unsupported_media_type'));
  });
  return adapter;
}

/** Ends a request whose body takes too long. Node's own limit is for all requests alike, and uploads need more. */
function limitBody({ raw }: FastifyRequest, reply: FastifyReply, ms: number, origin: string): void {
  const { 'content-length': length, 'transfer-encoding': coding } = raw.headers;
  if (coding === undefined && (length === undefined || length === '0')) return;
  const timer = setTimeout(() => {
    if (raw.complete) return;
    // Behind a reply that is out already nothing more can be said.
    if (reply.raw.headersSent) raw.destroy();
    else answerUnreadable(Object.assign(new Error(), { code: TOO_LATE }), raw.socket, origin);
  }, ms);
  const settle = () => clearTimeout(timer);
  raw.once('close', settle);
  // Node forgets a request whose body it does not want, so with its connection nothing closes it.
  reply.raw.once('close', () => {
    if (reply.getHeader('connection') === 'close') settle();
  });
}

function parseJson(request: FastifyRequest, body: Buffer): unknown {
  // RFC 8259 section 8.1: JSON between systems is UTF-8. Another charset would be read as what it is not.
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(
    request.headers['content-type'] ?? '',
  )?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    throw new RelaygerError('unsupported_media_type');
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    failField('body', 'is not valid UTF-8');
  }
  if (text === '') failField('body', 'is empty but was announced as JSON; send at least {}');
  const value = parseJsonText(text, 'body');
  (request as ApiRequest).rawBody = text;
  return value;
}

/**
 * Headers that every reply carries.
 * @param route the path of the matched route; without one the reply is a failure
 */
function securityHeaders(origin: string, route?: string): Record<string, string> {
  const isDocument = route !== undefined && !route.startsWith('/v1/');
  return {
    'x-content-type-options': 'nosniff',
    ...(origin.startsWith('https:') && {
      'strict-transport-security': `max-age=${TWO_YEARS}; includeSubDomains`,
    }),
    // Replies hold credentials and private messages: no search engine and no cache on the way may keep them.
    ...(!isDocument && { 'x-robots-tag': 'noindex', 'cache-control': 'no-store' }),
  };
}

/** Answers what could not be read as HTTP at all: no route, no hooks, and a connection of no further use. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket, origin: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const unreadable = new RelaygerError('invalid_request', {
    issues: [unreadableIssue(error.code)],
  });
  const { status, body } = errorReply(unreadable, uuid());
  const json = JSON.stringify(body);
  const headers = {
    ...securityHeaders(origin),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(json)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} Bad Request\r\n${lines.join('')}\r\n${json}`, () =>
    socket.destroy(),
  );
}

function unreadableIssue(code: string | undefined): { path: string; message: string } {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        path: 'header',
        message: `must have at most ${maxHeaderSize} bytes, all headers together`,
      };
    case TOO_LATE:
      return {
        path: 'request',
        message: `must arrive within ${REQUEST_MS / 1000} seconds, an upload within ${BYTES_MS / 60_000} minutes`,
      };
    default:
      return { path: 'request', message: 'is not valid HTTP/1.1' };
  }
}
