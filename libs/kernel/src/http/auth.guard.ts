import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { type Operation as Definition, fail, failField } from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { CONFIG, type KernelConfig } from '../config/kernel.config.js';
import { requireLength } from './bytes-body.js';
import { clientAddress, parseRanges } from './client-address.js';
import { operationOf } from './operation.decorator.js';
import { Authenticator, authorize, type Principal } from './principal.js';
import { RateWindow } from './rate-window.js';
import type { ApiRequest } from './request.js';
import { ServiceAddress } from './service-address.js';
import { readSessionCookie } from './session-cookie.js';
import { validate } from './validate.js';

const NOTHING = z.strictObject({});
/** RFC 6750 section 2.1; the token itself is opaque. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Lets a request in: token or cookie, rate window, scopes and room restriction, in this order, from the operation that
 * the handler is bound to. A handler without an operation is refused, so that none is open by mistake.
 */
@Injectable()
export class AuthGuard implements CanActivate {
  private readonly window: RateWindow;
  private readonly proxies: ReturnType<typeof parseRanges>;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly address: ServiceAddress,
    @Inject(CONFIG) config: KernelConfig,
  ) {
    this.window = new RateWindow(config.REQUESTS_PER_MINUTE);
    this.proxies = parseRanges(config.TRUSTED_PROXIES);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const operation = operationOf(context.getHandler());
    if (!operation) fail('not_found');
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    // Fastify answers HEAD wherever there is GET. A call is not made that way: consume=1 would mark messages
    // delivered that the reply does not carry.
    if (request.method !== operation.method && isCall(operation)) fail('method_not_allowed');
    const forwardedFor = request.headers['x-forwarded-for']?.toString();
    request.clientAddress = clientAddress(request.ip, forwardedFor, this.proxies);
    if (operation.access === 'public') {
      refuseExtras(operation, request);
      return true;
    }

    const { access } = operation;
    const principal = await this.identify(request);
    request.principal = principal;
    request.reauthorize = async () => authorize(await this.identify(request), access);

    const rate = this.window.hit(principal.identityId);
    request.rate = rate;
    const reply = http.getResponse<FastifyReply>();
    reply.header('RateLimit-Limit', rate.limit);
    reply.header('RateLimit-Remaining', rate.remaining);
    reply.header('RateLimit-Reset', rate.reset);
    if (rate.exceeded) fail('rate_limited', { retryAfter: rate.reset });

    authorize(principal, access);
    refuseExtras(operation, request);
    // Before anything of the body is read, but not before the token is known.
    if (operation.bytes) requireLength(operation.bytes, request);
    return true;
  }

  /**
   * An Authorization header decides alone, also when it is wrong: whoever sends one means it, and must not end up
   * as somebody else whose cookie the browser happened to add.
   */
  private async identify({ headers }: ApiRequest): Promise<Principal> {
    let principal: Principal | null = null;
    if (headers.authorization !== undefined) {
      const token = BEARER.exec(headers.authorization)?.[1];
      if (token) principal = await this.authenticator.authenticate(token);
    } else {
      const cookie = readSessionCookie(headers.cookie, this.address.origin);
      if (cookie) principal = await this.authenticator.authenticateSession(cookie);
    }
    return principal ?? fail('unauthorized');
  }
}

/** A call of the API, not a document or probe. */
function isCall({ path }: Definition): boolean {
  return path.startsWith('/v1/');
}

/**
 * Refuses a query or body that the operation does not take. Ignored silently, a mistyped or imagined parameter
 * would look as if it worked. Documents take whatever links to them carry.
 */
function refuseExtras(operation: Definition, { url, query, body }: ApiRequest): void {
  if (!isCall(operation)) return;
  refuseUndecodable(url);
  if (!operation.query) validate(NOTHING, query, 'query');
  if (!operation.body && body !== undefined && body !== null) validate(NOTHING, body, 'body');
}

/** Refuses a query that is not UTF-8: it would reach the call as it stands, percent signs and all. */
function refuseUndecodable(url: string): void {
  if (!url.includes('%')) return;
  for (const pair of url.slice(url.indexOf('?') + 1).split('&')) {
    try {
      decodeURIComponent(pair);
    } catch {
      failField(`query.${pair.split('=', 1)[0]}`.slice(0, 64), 'is not percent-encoded UTF-8');
    }
  }
}
