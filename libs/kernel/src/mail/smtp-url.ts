/** How to reach the server that takes mail. */
export interface SmtpServer {
  host: string;
  port: number;
  secure: boolean;
  requireTLS: boolean;
  tls: { rejectUnauthorized: boolean };
  auth?: { user: string; pass: string };
}

/** RFC 8314 section 3.3: 465 for TLS from the start, 587 for STARTTLS. */
const PORTS = { 'smtps:': 465, 'smtp:': 587 } as const;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1']);

/**
 * Reads SMTP_URL; null for text that is none. Parameters are refused rather than handed on: among nodemailer's
 * own there are some that log whole mails.
 */
export function parseSmtpUrl(text: string): SmtpServer | null {
  const url = URL.parse(text);
  if (!url || !(url.protocol in PORTS) || url.hostname === '') return null;
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') return null;
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isLoopback = LOOPBACK.has(host);
  const user = decode(url.username);
  const pass = decode(url.password);
  if (user === null || pass === null) return null;
  return {
    host,
    port: url.port === '' ? PORTS[url.protocol as keyof typeof PORTS] : Number(url.port),
    secure,
    // STARTTLS alone is offered in the clear, and whoever sits in between can leave the offer out (RFC 3207
    // section 6): where there is a password to lose, no mail goes out without it.
    requireTLS: !secure && user !== '' && !isLoopback,
    // A mail server on the same machine usually made its own certificate, and there is nobody in between.
    tls: { rejectUnauthorized: !isLoopback },
    ...(user !== '' && { auth: { user, pass } }),
  };
}

/** Whether text is a usable SMTP_URL. */
export function isSmtpUrl(text: string): boolean {
  return parseSmtpUrl(text) !== null;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
