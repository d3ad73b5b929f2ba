import { FastifyAdapter } from '@nestjs/platform-fastify';
import { failField, LIMITS, RelaygerError } from '@relayger/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import secureJson from 'secure-json-parse';
import { v7 as uuid } from 'uuid';
import type { Logger } from '../log/logger.js';
import { errorReply, toRelaygerError } from './errors.js';
import type { ApiRequest } from './request.js';
import type { ServiceAddress } from './service-address.js';

interface HttpServerOptions {
  /** Own origin, for the Origin rule and for HSTS. */
  address: ServiceAddress;
  log: Logger;
}

/** Longer than a load balancer's usual 60 s, so that the balancer never reuses a connection we just closed. */
const KEEP_ALIVE_MS = 75_000;
/** A request, headers and body, must have arrived by then; a long-poll's wait does not count. */
const REQUEST_MS = 30_000;
const TWO_YEARS = 63_072_000;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const TOKEN_IN_QUERY = /[?&](access_token|token|authorization|bearer)=/i;

/** Fastify as every application of ours uses it: limits, JSON reading, security headers and the Origin rule. */
export function createHttpAdapter({ address, log }: HttpServerOptions): FastifyAdapter {
  const adapter = new FastifyAdapter({
    bodyLimit: LIMITS.bodyBytes,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_MS,
    connectionTimeout: 0,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId: () => uuid(),
    logger: false,
    routerOptions: { maxParamLength: 300 },
    skipMiddie: true,
    // Failures of the router itself come before every hook, so they bring their headers along.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      setSecurityHeaders(request, reply, address.origin);
      const { status, headers, body } = errorReply(toRelaygerError(error), request.id);
      void reply.code(status).headers(headers).type('application/json; charset=utf-8').send(body);
    },
  });
  const fastify = adapter.getInstance() as unknown as FastifyInstance;

  fastify.addHook('onRequest', (request, reply, done) => {
    setSecurityHeaders(request, reply, address.origin);
    const from = request.headers.origin;
    if (from !== undefined && from !== address.origin) return done(new RelaygerError('origin_not_allowed'));
    if (TOKEN_IN_QUERY.test(request.url)) return done(new RelaygerError('token_in_query'));
    done();
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
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      done(null, parseJson(request, body));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  return adapter;
}

function parseJson(request: FastifyRequest, body: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    failField('body', 'is not valid UTF-8');
  }
  if (text === '') failField('body', 'is empty but was announced as JSON; send at least {}');
  (request as ApiRequest).rawBody = text;
  try {
    // Refuses __proto__ and constructor.prototype keys, which would reach into objects that are merged later.
    return secureJson.parse(text, null, { protoAction: 'error', constructorAction: 'error' }) as unknown;
  } catch {
    failField('body', 'is not valid JSON');
  }
}

function setSecurityHeaders(request: FastifyRequest, reply: FastifyReply, origin: string): void {
  void reply.header('x-content-type-options', 'nosniff');
  if (origin.startsWith('https:')) {
    void reply.header('strict-transport-security', `max-age=${TWO_YEARS}; includeSubDomains`);
  }
  if (request.url.startsWith('/v1')) {
    void reply.header('x-robots-tag', 'noindex');
    // Replies hold credentials and private messages: no cache on the way may keep them.
    void reply.header('cache-control', 'no-store');
  }
}
