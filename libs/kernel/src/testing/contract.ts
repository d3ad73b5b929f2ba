import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import {
  ERRORS,
  type ErrorCode,
  errorStatus,
  type Operation,
  operationErrors,
} from '@relayger/protocol';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** A reply as it came over the wire. */
export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  /** Parsed when it is JSON, a Buffer when it is bytes, otherwise the text. */
  body: unknown;
}

interface HeaderObject {
  required?: boolean;
  schema?: { type?: string; minimum?: number; maximum?: number };
}
interface ResponseObject {
  headers?: Record<string, HeaderObject & { $ref?: string }>;
  /** Absent where the reply has no body. */
  content?: Record<string, unknown>;
}
interface Document {
  paths: Record<
    string,
    Record<string, { responses: Record<string, ResponseObject & { $ref?: string }> }>
  >;
  components: { schemas: Record<string, { properties?: { error?: ErrorPart } }> };
}
interface ErrorPart {
  properties?: { code?: { const?: string } };
}

const FILE = new URL('../../../../openapi/openapi.json', import.meta.url);
const RATE_LIMITS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** Codes that may come before the token has been looked at, so that no rate window is known. */
const BEFORE_AUTH: ReadonlySet<ErrorCode> = new Set([
  'origin_not_allowed',
  'token_in_query',
  'unauthorized',
  'body_too_large',
  'unsupported_media_type',
  'internal',
  'unavailable',
]);

let loaded: { document: Document; ajv: Ajv2020; errorSchemas: Map<string, string> } | undefined;
const compiled = new Map<string, ValidateFunction>();

function load() {
  if (loaded) return loaded;
  const document = JSON.parse(readFileSync(FILE, 'utf8')) as Document;
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  formats.default(ajv);
  ajv.addSchema(document, 'openapi');
  const errorSchemas = new Map<string, string>();
  for (const [name, { properties }] of Object.entries(document.components.schemas)) {
    const code = properties?.error?.properties?.code?.const;
    if (code) errorSchemas.set(code, `#/components/schemas/${name}`);
  }
  loaded = { document, ajv, errorSchemas };
  return loaded;
}

/** Compiling all operations costs over a second, so each schema is compiled when it is first met. */
function validator(pointer: string): ValidateFunction {
  const known = compiled.get(pointer);
  if (known) return known;
  const validate = load().ajv.compile({ $ref: `openapi${pointer}` });
  compiled.set(pointer, validate);
  return validate;
}

function bodyProblems(pointer: string, body: unknown): string[] {
  const validate = validator(pointer);
  if (validate(body)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }: ErrorObject) =>
      `body${instancePath} ${message ?? 'is wrong'} ${JSON.stringify(params)}`,
  );
}

function at(...path: string[]): string {
  return `#/${path.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
}

function follow<T extends { $ref?: string }>(node: T): T {
  if (!node.$ref) return node;
  const path = node.$ref.slice(2).split('/');
  return path.reduce<unknown>(
    (value, part) => (value as Record<string, unknown>)[part],
    load().document,
  ) as T;
}

function headerProblems(
  headers: IncomingHttpHeaders,
  name: string,
  { schema }: HeaderObject,
): string[] {
  const value = headers[name.toLowerCase()];
  if (value === undefined) return [`header ${name} is missing`];
  if (schema?.type !== 'integer') return [];
  const { minimum = -Infinity, maximum = Infinity } = schema;
  const number = Number(value);
  const fits = /^[0-9]+$/.test(String(value)) && number >= minimum && number <= maximum;
  return fits ? [] : [`header ${name} is ${String(value)}, expected ${JSON.stringify(schema)}`];
}

/** What is wrong with the headers that a reply always carries. */
function documentedHeaders(response: ResponseObject, headers: IncomingHttpHeaders): string[] {
  return Object.entries(response.headers ?? {}).flatMap(([name, reference]) => {
    const header = follow(reference);
    return header.required ? headerProblems(headers, name, header) : [];
  });
}

/** The code of an error body, or undefined for any other body. */
export function codeOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error
    ? String(error.code)
    : undefined;
}

/** What holds for every reply, of whatever path. */
export function commonProblems({ headers }: Received): string[] {
  return headers['x-content-type-options'] === 'nosniff'
    ? []
    : ['header X-Content-Type-Options is not nosniff'];
}

/** What is wrong with a failure, whichever call it answers: shape, status, details, Retry-After. */
export function errorProblems({ status, headers, body }: Received): string[] {
  const code = codeOf(body);
  const schema = load().errorSchemas.get(code ?? '');
  if (code === undefined || !schema) {
    return [
      `status ${status} without a code of openapi.json (npm run contract), but ${code ?? 'another body'}`,
    ];
  }
  const problems = bodyProblems(schema, body);
  const wanted = code in ERRORS ? errorStatus(code as ErrorCode) : undefined;
  if (wanted !== status)
    problems.push(`status ${status} with ${code}, which is ${wanted ?? 'unknown'}`);
  const { details } = (body as { error: { details?: { retryAfter?: number } } }).error;
  if (details?.retryAfter !== undefined && headers['retry-after'] !== String(details.retryAfter)) {
    problems.push(
      `header Retry-After is ${headers['retry-after']}, details say ${details.retryAfter}`,
    );
  }
  return problems;
}

/**
 * Everything in which a reply breaks the contract of its operation; empty when it keeps it.
 * @param sent whether the request carried a token, and whether its body was well-formed JSON
 */
export function contractProblems(
  operation: Operation,
  received: Received,
  sent: { token: boolean; wellFormed: boolean },
): string[] {
  const { status, headers, body } = received;
  const method = operation.method.toLowerCase();
  const documented = load().document.paths[operation.path]?.[method]?.responses[status];
  if (!documented) {
    return [
      `status ${status} is not documented in openapi.json (npm run contract) for ${operation.id}`,
    ];
  }
  const response = follow(documented);
  const problems = commonProblems(received);

  if (!response.content) return [...problems, ...documentedHeaders(response, headers)];
  const type = headers['content-type']?.split(';', 1)[0] ?? 'none';
  if (!(type in response.content)) {
    return [
      ...problems,
      `content-type is ${type}, expected ${Object.keys(response.content).join(' or ')}`,
    ];
  }
  const code = codeOf(body) as ErrorCode | undefined;
  if (code !== undefined) {
    if (!operationErrors(operation).includes(code))
      problems.push(`${code} is not documented for ${operation.id}`);
    problems.push(...errorProblems(received));
  } else if (!(body instanceof Uint8Array)) {
    // A $ref cannot be followed by ajv in the middle of a pointer; only errors are shared components.
    const pointer = at(
      'paths',
      operation.path,
      method,
      'responses',
      String(status),
      'content',
      type,
      'schema',
    );
    problems.push(...bodyProblems(pointer, body));
  }

  problems.push(...documentedHeaders(response, headers));
  const authenticated =
    operation.access !== 'public' &&
    sent.token &&
    !(code && BEFORE_AUTH.has(code)) &&
    (code !== 'invalid_request' || sent.wellFormed);
  if (authenticated) {
    const integer = { schema: { type: 'integer' } };
    problems.push(...RATE_LIMITS.flatMap((name) => headerProblems(headers, name, integer)));
  }
  return problems;
}
