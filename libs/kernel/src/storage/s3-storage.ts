import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { exactly } from './exactly.js';
import type { S3Settings } from './storage.config.js';
import { MissingObjectError, requireObjectKey, Storage, StorageError } from './storage.js';

/** More than the transfers that one process lets be under way (`libs/files`): a slow reader holds one. */
const CONNECTIONS = 256;
const CONNECT_MS = 3_000;
/** Longer than a client may stall in the middle of an upload, since its bytes go straight through. */
const SILENCE_MS = 45_000;

/** What fails is thrown, and logged once by whoever answers for it. The SDK would write to the console as well. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Objects of one bucket of an S3-compatible server, addressed by path. */
export class S3Storage extends Storage {
  private readonly client: S3Client;
  private readonly bucket: string;

  constructor(settings: S3Settings) {
    super();
    this.bucket = settings.S3_BUCKET;
    this.client = new S3Client({
      endpoint: settings.S3_ENDPOINT,
      region: settings.S3_REGION,
      credentials: {
        accessKeyId: settings.S3_ACCESS_KEY_ID,
        secretAccessKey: settings.S3_SECRET_ACCESS_KEY,
      },
      // Names of buckets as host names need DNS and certificates that few servers of one's own have.
      forcePathStyle: true,
      // The SDK's default checksums of a stream come as a trailer in chunks of its own (aws-chunked), which many
      // S3-compatible servers refuse or store as part of the object. We keep a SHA-256 of every file ourselves, and
      // clients compare it.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // Of uploads nothing can be sent twice: the SDK does not retry a stream.
      maxAttempts: 3,
      logger: SILENT,
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        httpAgent: { keepAlive: true, maxSockets: CONNECTIONS },
        httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS },
      },
    });
  }

  async put(key: string, bytes: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    requireObjectKey(key);
    const abort = new AbortController();
    let broken: { error: unknown } | undefined;
    // The SDK pipes the body and would wait for ever for one that has failed.
    const source = async function* () {
      try {
        yield* exactly(bytes, size);
      } catch (error) {
        broken = { error };
        abort.abort();
        throw error;
      }
    };
    const body = Readable.from(source(), { objectMode: false });
    body.on('error', () => {});
    try {
      const put = { Bucket: this.bucket, Key: key, Body: body, ContentLength: size };
      await this.client.send(new PutObjectCommand(put), { abortSignal: abort.signal });
    } catch (cause) {
      if (broken) throw broken.error;
      throw new StorageError('the bucket does not take this now', { cause });
    } finally {
      body.destroy();
    }
  }

  async get(key: string): Promise<Readable> {
    requireObjectKey(key);
    try {
      const found = await this.client.send(new GetObjectCommand({ Bucket: this.bucket, Key: key }));
      return found.Body as Readable;
    } catch (cause) {
      if ((cause as Error).name === 'NoSuchKey')
        throw new MissingObjectError('no such object', { cause });
      throw new StorageError('the bucket does not give this now', { cause });
    }
  }

  async delete(key: string): Promise<void> {
    requireObjectKey(key);
    try {
      await this.client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key: key }));
    } catch (cause) {
      throw new StorageError('the bucket does not remove this now', { cause });
    }
  }

  /** A server that speaks S3 keeps no unfinished objects of single requests. */
  async tidy(): Promise<void> {}

  close(): void {
    this.client.destroy();
  }
}
