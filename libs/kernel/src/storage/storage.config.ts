import { z } from 'zod';
import type { ConfigRule } from '../config/config.js';

function isEndpoint(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, '');
}

/** Settings of where files are kept; each is described where it is defaulted. */
export const storageSettings = {
  S3_ENDPOINT: z
    .string()
    .refine(isEndpoint, 'must be an origin such as https://s3.example, without a path or bucket')
    .optional()
    .describe('An S3-compatible server that keeps files. Default: DATA_DIR/files.'),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')
    .optional()
    .describe('A bucket that is there already and that nothing else uses.'),
  S3_REGION: z.string().optional().describe('Its region; us-east-1 for servers that have none.'),
  S3_ACCESS_KEY_ID: z.string().optional().describe('May put, get and delete objects there.'),
  S3_SECRET_ACCESS_KEY: z.string().optional().describe('The secret of that key.'),
};

export type StorageSettings = z.infer<z.ZodObject<typeof storageSettings>>;

/** S3 as it is used: everything that it takes. */
export type S3Settings = { [K in keyof StorageSettings]-?: NonNullable<StorageSettings[K]> };

function missing(config: StorageSettings): string[] {
  return Object.keys(storageSettings).filter(
    (name) => config[name as keyof StorageSettings] === undefined,
  );
}

/** Half a configuration would put files where nobody looks for them. */
export const requireWholeS3: ConfigRule<StorageSettings> = (config) => {
  const absent = missing(config);
  return absent.length === 0 || absent.length === Object.keys(storageSettings).length
    ? null
    : `${absent.join(', ')} must be set too, or none of the S3_ settings; then files are kept in DATA_DIR`;
};

/** The settings of S3, or null where files are kept on the disk. */
export function s3Settings(config: StorageSettings): S3Settings | null {
  return missing(config).length === 0 ? (config as S3Settings) : null;
}
