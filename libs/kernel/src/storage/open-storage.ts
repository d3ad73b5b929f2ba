import path from 'node:path';
import { DiskStorage } from './disk-storage.js';
import { type StorageSettings, s3Settings } from './storage.config.js';
import type { Storage } from './storage.js';

/** The storage that the settings choose. Nothing is opened before it is used, so an absent one stops no start. */
export async function openStorage(
  config: StorageSettings & { DATA_DIR: string },
): Promise<Storage> {
  const s3 = s3Settings(config);
  if (!s3) return new DiskStorage(path.join(config.DATA_DIR, 'files'));
  // The SDK is large, and most processes never need it.
  const { S3Storage } = await import('./s3-storage.js');
  return new S3Storage(s3);
}
