import { OPERATIONS } from '@relayger/protocol';
import type { FastifyRequest } from 'fastify';
import type { ServiceAddress } from './service-address.js';
import { readSessionCookie } from './session-cookie.js';

/** Methods that change nothing (RFC 9110 section 9.2.1). */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Operations with a rule of their own, by method and route as the router knows it. */
const SPECIAL = new Map(
  OPERATIONS.filter(({ ownOrigin, changesWith }) => ownOrigin || changesWith).map((operation) => [
    `${operation.method} ${operation.path.replace(/\{(\w+)\}/g, ':$1')}`,
    operation,
  ]),
);

/**
 * Whether the Origin rule lets a request in. A browser says where a request comes from and no page can change
 * that, so a foreign Origin is refused everywhere. A browser also adds its cookie by itself: where a cookie may
 * have been what the request counts on and something would change, silence is not enough and the own Origin must
 * be there. SameSite=Strict alone would not do: sibling subdomains are the same site.
 *
 * It is decided before the body is read and before anybody knows whether the cookie is worth anything.
 */
export function isOriginAllowed(request: FastifyRequest, own: ServiceAddress): boolean {
  const { origin, cookie } = request.headers;
  if (origin !== undefined) return own.isOwn(origin);
  const operation = SPECIAL.get(`${request.method} ${request.routeOptions.url}`);
  if (operation?.ownOrigin) return false;
  if (readSessionCookie(cookie, own.origin) === undefined) return true;
  const query = request.query as Record<string, unknown>;
  const flag = operation?.changesWith && query[operation.changesWith];
  return SAFE.has(request.method) && (flag === undefined || flag === '0');
}
