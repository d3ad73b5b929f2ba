import { Agent, request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import {
  BYTES_TYPE,
  type ErrorBody,
  OPERATIONS,
  type Operation,
  type OperationMap,
} from '@relayger/protocol';
import type { z } from 'zod';
import {
  codeOf,
  commonProblems,
  contractProblems,
  errorProblems,
  type Received,
} from './contract.js';
import { logReached, operationAt } from './contract-log.js';

type OperationId = keyof OperationMap;

/** The documented success reply at a status; TypeScript may keep the inferred key as text. */
type SuccessAt<
  K extends OperationId,
  S extends number,
> = OperationMap[K]['responses'] extends infer R
  ? S extends keyof R
    ? R[S]
    : `${S}` extends keyof R
      ? R[`${S}`]
      : never
  : never;

/** The type of the body: what the contract says for a success, an error otherwise. */
type BodyAt<K extends OperationId, S extends number> = number extends S
  ? unknown
  : [SuccessAt<K, S>] extends [never]
    ? ErrorBody
    : SuccessAt<K, S> extends { schema?: infer Schema }
      ? Schema extends z.ZodType
        ? z.output<Schema>
        : never
      : never;

type Given<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;
type InQuery<T> = unknown extends T
  ? Record<string, QueryValue>
  : { [F in keyof T]?: T[F] | number };
type QueryValue = string | number | undefined;

interface Typed<K extends OperationId> {
  params?: Given<OperationMap[K]['params']>;
  query?: InQuery<Given<OperationMap[K]['query']>>;
  body?: Given<OperationMap[K]['body']>;
}
/** A call that is meant to fail may be as wrong as it likes. */
interface Untyped {
  params?: Record<string, string>;
  query?: Record<string, QueryValue>;
  body?: unknown;
}
type Input<K extends OperationId, S extends number> = [SuccessAt<K, S>] extends [never]
  ? Untyped
  : Typed<K>;

interface Common {
  token?: string;
  headers?: OutgoingHttpHeaders;
  /** Sent as it is instead of `body`: malformed JSON, duplicate keys, broken UTF-8. */
  rawBody?: string | Uint8Array;
  /** The body of a call that takes bytes. */
  bytes?: Uint8Array;
  signal?: AbortSignal;
}

export interface ApiReply<Body = unknown> extends Received {
  /** A Buffer where the reply is bytes. */
  body: Body;
  text: string;
}

export interface ApiClient {
  /**
   * Makes a call of the contract and checks the reply against openapi/openapi.json.
   * @throws when the status is not the expected one or the reply breaks the contract
   */
  call<K extends OperationId, S extends number>(
    operation: K | { readonly id: K },
    options: Common & { expect: S } & Input<K, S>,
  ): Promise<ApiReply<BodyAt<K, S>>>;
  /** For tables over OPERATIONS, where the types of the single call are not known. */
  call(operation: Operation, options: Common & { expect: number } & Untyped): Promise<ApiReply>;
  /** A deliberately wrong or undocumented call; only a failure's body is checked. The path is sent as it is. */
  raw(
    method: string,
    path: string,
    options?: Common & { body?: unknown; expect?: number },
  ): Promise<ApiReply>;
  /** Closes the kept connections, for tests that watch a server stop. */
  close(): void;
}

/** What went over the wire in one call. */
export interface Exchange {
  token: string | undefined;
  body: unknown;
  reply: ApiReply;
}

/**
 * @param baseUrl of a listening server, `http://127.0.0.1:PORT`
 * @param observe sees every exchange, also one that the test did not expect
 */
export function createApiClient(
  baseUrl: string,
  observe: (exchange: Exchange) => void = () => {},
): ApiClient {
  const agent = new Agent({ keepAlive: true });

  async function call(
    target: string | { readonly id: string },
    options: Common & { expect: number } & Untyped,
  ): Promise<ApiReply> {
    const id = typeof target === 'string' ? target : target.id;
    const operation = OPERATIONS.find((candidate) => candidate.id === id);
    if (!operation) throw new Error(`There is no operation ${id}`);
    const path = pathOf(operation, options.params) + queryOf(options.query);
    const reply = await send(baseUrl, agent, operation.method, path, options);
    observe({ token: options.token, body: options.body, reply });
    const problems = contractProblems(operation, reply, {
      token: options.token !== undefined,
      wellFormed: options.rawBody === undefined,
    });
    report(`${id}: ${operation.method} ${path}`, reply, options.expect, problems);
    logReached(operation, reply.status, codeOf(reply.body));
    return reply;
  }

  async function raw(
    method: string,
    path: string,
    options: Common & { body?: unknown; expect?: number } = {},
  ): Promise<ApiReply> {
    const reply = await send(baseUrl, agent, method, path, options);
    observe({ token: options.token, body: options.body, reply });
    const operation = operationAt(method, path);
    const code = codeOf(reply.body);
    const ownBody = code === undefined && operation?.responses[reply.status] !== undefined;
    const failed = reply.status >= 400 && method !== 'HEAD' && !ownBody;
    const problems = [...commonProblems(reply), ...(failed ? errorProblems(reply) : [])];
    report(`${method} ${path}`, reply, options.expect ?? reply.status, problems);
    logReached(operation, reply.status, code);
    return reply;
  }

  return { call: call as ApiClient['call'], raw, close: () => agent.destroy() };
}

function pathOf(operation: Operation, params: Record<string, string> = {}): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${operation.id} needs the parameter ${name}`);
    return encodeURIComponent(value);
  });
}

function queryOf(query: Record<string, QueryValue> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, String(value));
  }
  return search.size > 0 ? `?${search.toString()}` : '';
}

/** node:http rather than fetch: it sends a path, an Origin or a Content-Length exactly as a test wants it. */
function send(
  baseUrl: string,
  agent: Agent,
  method: string,
  path: string,
  { token, headers = {}, body, rawBody, bytes, signal }: Common & { body?: unknown },
): Promise<ApiReply> {
  const payload = rawBody ?? bytes ?? (body === undefined ? undefined : JSON.stringify(body));
  const { hostname, port } = new URL(baseUrl);
  const outgoing = lowerCased({
    ...(payload !== undefined && {
      'content-type': bytes ? BYTES_TYPE : 'application/json',
      'content-length': Buffer.byteLength(payload),
    }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...headers,
  });
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { agent, hostname, port, method, path, headers: outgoing, signal },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          try {
            const received = Buffer.concat(chunks);
            const type = response.headers['content-type'] ?? '';
            const isBytes = type === BYTES_TYPE;
            const text = isBytes ? '' : new TextDecoder('utf-8', { fatal: true }).decode(received);
            const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(type);
            const other: unknown = isJson && text !== '' ? JSON.parse(text) : text;
            const parsed = isBytes ? received : other;
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: parsed,
              text,
            });
          } catch (error) {
            reject(
              new Error(`${method} ${path} answered what is not UTF-8 JSON`, { cause: error }),
            );
          }
        });
      },
    );
    request.on('error', reject);
    // What is said over the new protocol is for other clients; here only the answer counts.
    request.on('upgrade', ({ statusCode = 0, headers: received }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, headers: received, body: '', text: '' });
    });
    request.end(payload);
  });
}

/** Later spellings win, and undefined takes a header away. */
function lowerCased(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const all = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries([...new Map(all)].filter(([, value]) => value !== undefined));
}

function report(call: string, reply: ApiReply, expected: number, problems: string[]): void {
  const lines = problems.map((problem) => `  - ${problem}`);
  if (reply.status !== expected) lines.unshift(`  - status ${reply.status}, expected ${expected}`);
  if (lines.length === 0) return;
  throw new Error(`${call}\n${lines.join('\n')}\n  body: ${reply.text.slice(0, 2000)}`);
}
