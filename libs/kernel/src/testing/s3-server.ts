import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How the server misbehaves: answers an error, or closes connections. */
export type S3Fault = 'error' | 'reset';

export interface S3Server {
  /** What makes a service use it. */
  readonly env: Record<string, string>;
  /** What is stored, by key. */
  readonly objects: ReadonlyMap<string, Buffer>;
  /** Fails every request from now on; null ends it. */
  fail(fault: S3Fault | null): void;
  /** Stops as if it had never been there; on the same port it can be started again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(key: string): void;
}

const BUCKET = 'relayger-test';
const REGION = 'eu-central-1';

/**
 * A small server that speaks as much of S3 as the storage uses, and no more: PUT, GET, HEAD and DELETE of objects by
 * path, with signatures (AWS Signature Version 4) checked to the letter. Like many S3-compatible servers it knows no
 * chunked signatures and no trailing checksums.
 */
export async function startS3Server(): Promise<S3Server> {
  const accessKeyId = 'TESTKEY';
  const secret = randomBytes(20).toString('hex');
  const objects = new Map<string, Buffer>();
  let fault: S3Fault | null = null;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = (status: number, body: Buffer | string = '', headers = {}) => {
      response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
      response.end(request.method === 'HEAD' ? undefined : body);
    };
    const refuse = (status: number, code: string) =>
      answer(status, `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`, {
        'content-type': 'application/xml',
      });
    if (fault === 'reset') return void request.socket.destroy();
    if (fault === 'error') return refuse(500, 'InternalError');

    const [path = '', query = ''] = (request.url ?? '').split('?');
    const hash = request.headers['x-amz-content-sha256']?.toString() ?? '';
    if (hash.startsWith('STREAMING-')) return refuse(501, 'NotImplemented');
    if (!isSigned(request, { path, query, hash, accessKeyId, secret }))
      return refuse(403, 'SignatureDoesNotMatch');
    const [, bucket, key] = /^\/([^/]+)\/(.+)$/.exec(path) ?? [];
    if (bucket !== BUCKET || !key) return refuse(404, 'NoSuchBucket');

    switch (request.method) {
      case 'PUT': {
        const length = request.headers['content-length'];
        if (length === undefined) return refuse(411, 'MissingContentLength');
        const body = await read(request);
        // One that breaks off is never an object.
        if (!body || body.length !== Number(length)) return;
        if (hash !== 'UNSIGNED-PAYLOAD' && hash !== sha256(body))
          return refuse(400, 'XAmzContentSHA256Mismatch');
        objects.set(key, body);
        return answer(200, '', { etag: `"${createHash('md5').update(body).digest('hex')}"` });
      }
      case 'GET':
      case 'HEAD': {
        const body = objects.get(key);
        return body ? answer(200, body) : refuse(404, 'NoSuchKey');
      }
      case 'DELETE':
        objects.delete(key);
        return answer(204);
      default:
        return refuse(405, 'MethodNotAllowed');
    }
  };

  const server = createServer((request, response) => void handle(request, response));
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: BUCKET,
      S3_REGION: REGION,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secret,
    },
    objects,
    fail: (next) => {
      fault = next;
    },
    start: () => listen(port),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    remove: (key) => void objects.delete(key),
  };
}

async function read(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of request) pieces.push(piece as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(pieces);
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

interface Signing {
  path: string;
  query: string;
  hash: string;
  accessKeyId: string;
  secret: string;
}

/** Whether the signature is the one that the key gives for this request. */
function isSigned(
  { method, headers }: IncomingMessage,
  { path, query, hash, accessKeyId, secret }: Signing,
): boolean {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!found) return false;
  const [, id, day = '', region = '', names = '', signature = ''] = found;
  const date = headers['x-amz-date']?.toString() ?? '';
  const signed = names.split(';');
  const needed = ['host', 'x-amz-content-sha256', 'x-amz-date'];
  if (id !== accessKeyId || region !== REGION || !date.startsWith(day)) return false;
  if (!needed.every((name) => signed.includes(name))) return false;
  const canonical = [
    method,
    path,
    query
      .split('&')
      .filter(Boolean)
      .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
      .sort()
      .join('&'),
    ...signed.map((name) => `${name}:${headers[name]?.toString().trim().replace(/ +/g, ' ')}`),
    '',
    names,
    hash,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce(hmac, Buffer.from(`AWS4${secret}`));
  return timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'));
}
