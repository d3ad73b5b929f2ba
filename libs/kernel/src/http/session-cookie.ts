/**
 * The cookie of a web session. Everything follows from the origin that clients use (PUBLIC_URL): the connection
 * that reaches this process is usually a proxy's, and headers such as X-Forwarded-Proto are whatever the client
 * wrote.
 */
function cookieName(origin: string): string {
  // RFC 6265bis section 4.1.3.2: browsers take a __Host- cookie only with Secure, Path=/ and no Domain, so that no
  // sibling subdomain and no plain http reply can plant one.
  return isSecure(origin) ? '__Host-relayger_session' : 'relayger_session';
}

function isSecure(origin: string): boolean {
  return origin.startsWith('https:');
}

/** What the browser holds for this origin, or undefined. */
export function readSessionCookie(header: string | undefined, origin: string): string | undefined {
  const prefix = `${cookieName(origin)}=`;
  const pair = header
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  return pair?.slice(prefix.length);
}

/**
 * The Set-Cookie header that hands a session to the browser. How long the browser keeps it is a courtesy; whether
 * the session has expired is decided in the database.
 */
export function sessionCookie(origin: string, value: string, expiresAt: Date): string {
  const seconds = Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1000));
  return serialize(origin, value, seconds);
}

/** The Set-Cookie header that takes it back. */
export function expiredSessionCookie(origin: string): string {
  return serialize(origin, '', 0);
}

/**
 * No Domain: the cookie stays on this host. Strict: no request that another site starts carries it, not even a
 * link; pages are public and ask who is signed in from their own origin.
 */
function serialize(origin: string, value: string, seconds: number): string {
  const secure = isSecure(origin) ? '; Secure' : '';
  return `${cookieName(origin)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
