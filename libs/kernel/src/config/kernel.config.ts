import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { mailSettings } from '../mail/mail.config.js';
import { SECRET_KEY_BYTES } from '../secrets/secret-key.js';
import { storageSettings } from '../storage/storage.config.js';
import { type ConfigRule, csv, int } from './config.js';

function isCidr(text: string): boolean {
  try {
    ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
    return true;
  } catch {
    return false;
  }
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, '');
}

/** Settings of the kernel; each is described where it is defaulted. */
export const kernelSettings = {
  HOST: z.string().default('127.0.0.1').describe('Address to listen on.'),
  PORT: int(0, 65_535).default(8787).describe('Port to listen on; 0 takes a free one.'),
  PUBLIC_URL: z
    .string()
    .refine(isOrigin, 'must be an origin such as https://relayger.example, without a path')
    .transform((value) => value.replace(/\/$/, ''))
    .optional()
    .describe('Origin that clients use. Default: http://HOST:PORT.'),
  DATA_DIR: z
    .string()
    .default('./data')
    .describe('Where the embedded database, files and the key are kept.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must start with postgresql://')
    .optional()
    .describe('A PostgreSQL server. Default: an embedded one in DATA_DIR.'),
  DATABASE_POOL: int(2, 200)
    .default(16)
    .describe(
      'Most connections per process; beside them one listens. 32 was slower than 16 on two cores.',
    ),
  SECRET_KEY: z
    .string()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine(({ length }) => length === SECRET_KEY_BYTES, {
      error: `must be ${SECRET_KEY_BYTES} bytes in base64; openssl rand -base64 ${SECRET_KEY_BYTES} makes some`,
    })
    .optional()
    .describe(
      'Seals what the database holds to be sent. Default: made by the first start, in DATA_DIR/secret-key; with both DATABASE_URL and SMTP_URL it must be set.',
    ),
  TRUSTED_PROXIES: csv()
    .pipe(z.array(z.string().refine(isCidr, { error: 'must list addresses or CIDR blocks' })))
    .default([])
    .describe('Addresses or CIDR blocks whose X-Forwarded-For is believed, comma-separated.'),
  REQUESTS_PER_MINUTE: int(1, 1_000_000)
    .default(600)
    .describe('Requests a minute per identity and process.'),
  AUDIT_RETENTION_DAYS: int(90, 36_500)
    .default(730)
    .describe('Days that records of the audit log are kept.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .default('info')
    .describe('Log level.'),
  ...mailSettings,
  ...storageSettings,
};

/** The kernel's settings as read, with the origin settled. */
export type KernelConfig = z.infer<z.ZodObject<typeof kernelSettings>>;

/**
 * A database of one's own is shared by several processes, on several machines: a key that each of them made for
 * itself would open nothing of the others'.
 */
export const requireSharedKey: ConfigRule<KernelConfig> = (config) =>
  config.DATABASE_URL !== undefined && config.SMTP_URL !== undefined && !config.SECRET_KEY
    ? 'SECRET_KEY must be set, the same for every process, where DATABASE_URL and SMTP_URL are'
    : null;

/** Injection token of the settings that the application was started with. */
export const CONFIG = Symbol('relayger config');
