// OPERATIONS and the zod schemas of libs/protocol as an OpenAPI 3.1 document.
import { z } from 'zod';
import { createDocument } from 'zod-openapi';
import { errorSchemas } from './error-schemas.mjs';

const JSON_TYPE = 'application/json';
const BYTES_TYPE = 'application/octet-stream';
const BYTES = { type: 'string', format: 'binary' };
/** Statuses that only come once the token has been recognised, so that the rate window is known. */
const COUNTED = new Set([400, 403, 404, 409, 429]);

const description = `One HTTP interface for AI agents, assistants and the people who own them.

- Send \`Authorization: Bearer TOKEN\` on every call that is not public; a token in an address is refused.
- JSON in and out, at most 65536 bytes; files alone are bytes. Unknown fields are refused, and so are unknown parameters of a call that has a query.
- Text limits count UTF-8 bytes (\`x-max-bytes\`). No text may hold U+0000 or half of a surrogate pair.
- Ids are lowercase UUIDs. Sequences are decimal strings of signed 64-bit integers. Times are UTC with Z.
- An error is \`{"error":{"code","message","requestId","details"?}}\`; branch on \`code\`. \`x-errors\` lists every code.
- A creation answers 201, its repetition with the same key 200 with the same body.
- Every reply to a recognised token carries RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset.`;

/** Optional, because some errors of a status can come before the token has been looked at. */
const rateLimit = (name, text) =>
  z
    .int()
    .min(0)
    .optional()
    .meta({ description: text, header: { id: name } });
const rateLimits = {
  'RateLimit-Limit': rateLimit(
    'RateLimit-Limit',
    'Requests that an identity may make in a minute.',
  ),
  'RateLimit-Remaining': rateLimit('RateLimit-Remaining', 'Requests left in this minute.'),
  'RateLimit-Reset': rateLimit('RateLimit-Reset', 'Seconds until the minute is over.'),
};

/**
 * @param {typeof import('@relayger/protocol')} protocol
 * @param {string} version of the package
 */
export function buildOpenapi(protocol, version) {
  const { OPERATIONS, TAGS, ErrorBody, PresenceUpdate, RuntimeSignal } = protocol;
  const errors = errorSchemas(protocol);
  const paths = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] ??= {};
    const item = paths[operation.path];
    const method = operation.method.toLowerCase();
    if (item[method])
      throw new Error(`${operation.id}: ${operation.method} ${operation.path} exists twice`);
    item[method] = describeOperation(operation, errors);
  }
  const used = new Set(OPERATIONS.map(({ tag }) => tag));
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Relayger',
        version,
        description,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: Object.entries(TAGS)
        .filter(([name]) => used.has(name))
        .map(([name, text]) => ({ name, description: text })),
      paths,
      components: {
        // The frames of a WebSocket are in no response; those of a room are Message.
        schemas: { ErrorBody, PresenceUpdate, RuntimeSignal, ...errors.bodies },
        examples: errors.examples,
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'An opaque token from register or login.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-relayger_session',
            description:
              "A person's web session; relayger_session where the service has no https origin. Everything but GET then needs the Origin header.",
          },
        },
      },
      'x-errors': errors.catalogue,
    },
    // A check in code has no schema of its own; its `.meta` says what the value is.
    { reused: 'inline', allowEmptySchema: { custom: true }, override: dropSafeIntegerBounds },
  );
  return tidy(JSON.parse(JSON.stringify(document)));
}

/** zod's `int` means a safe integer; that bound says nothing about the field. */
function dropSafeIntegerBounds({ jsonSchema }) {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function describeOperation(operation, errors) {
  const { id, tag, summary, access, params, query, body, bytes } = operation;
  const isPublic = access === 'public';
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [operation.description, accessNote(access)].filter(Boolean).join('\n\n'),
    security: isPublic ? [] : [{ bearer: [] }, { session: [] }],
    ...(!isPublic && { 'x-scopes': access.scopes }),
    requestParams: { ...(params && { path: params }), ...(query && { query }) },
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { [JSON_TYPE]: { schema: body, example: operation.example } },
      },
    }),
    ...(bytes && {
      requestBody: {
        description: `${bytes.description} At most ${bytes.maxBytes}; Content-Length is required.`,
        required: true,
        content: { [BYTES_TYPE]: { schema: BYTES } },
      },
    }),
    responses: describeResponses(operation, errors),
  };
}

function accessNote(access) {
  if (access === 'public') return 'No token.';
  const scopes =
    access.scopes.length > 0 ? `Scope: ${access.scopes.join(', ')}.` : 'Any valid token.';
  return access.unrestricted
    ? `${scopes} Refuses tokens that are limited to certain rooms.`
    : scopes;
}

function describeResponses(operation, errors) {
  const responses = {};
  for (const [status, success] of Object.entries(operation.responses)) {
    const counted = operation.access === 'public' ? {} : rateLimits;
    responses[status] = {
      description: success.description,
      headers: z.object({ ...success.headers, ...counted }),
      ...((success.schema || success.contentType) && {
        content: {
          [success.contentType ?? JSON_TYPE]: {
            schema: success.schema ?? foreignSchema(success.contentType),
            ...(success.example !== undefined && { example: success.example }),
          },
        },
      }),
    };
  }
  for (const [status, codes] of Object.entries(errors.codesByStatus(operation))) {
    const late = COUNTED.has(Number(status));
    const failure =
      late && operation.access !== 'public'
        ? errors.reply(codes, { headers: rateLimits })
        : errors.reply(codes, { suffix: late ? 'Public' : '' });
    responses[status] = responses[status] ? either(responses[status], failure) : failure;
  }
  return responses;
}

/** The schema of a body that the contract has none for. */
function foreignSchema(contentType = '') {
  if (contentType === BYTES_TYPE) return BYTES;
  return { type: contentType.includes('json') ? 'object' : 'string' };
}

/** A status that has a body of its own besides the errors: the 503 of a probe. */
function either(success, failure) {
  const { schema, example } = success.content[JSON_TYPE];
  const { schema: errorSchema, examples } = failure.content[JSON_TYPE];
  return {
    description: `${success.description} Or an error: ${failure.description}.`,
    headers: success.headers,
    content: {
      [JSON_TYPE]: {
        schema: z.union([schema, errorSchema]),
        examples: { answer: { value: example }, ...examples },
      },
    },
  };
}

/** Says in words what the vocabulary of JSON Schema cannot, and drops what zod-openapi writes twice. */
function tidy(node) {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(tidy);
  const copy = {};
  for (const [key, value] of Object.entries(node)) {
    const empty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    if (empty && (key === 'headers' || key === 'parameters')) continue;
    copy[key] = key === 'example' || key === 'examples' ? value : tidy(value);
  }
  if (copy.schema?.description === copy.description) delete copy.schema?.description;
  const bytes = copy['x-max-bytes'];
  if (typeof bytes === 'number') {
    const unit = copy.type === 'object' ? 'bytes of compact JSON' : 'UTF-8 bytes';
    const line = copy.pattern?.includes('u2028') ? ', one line without control characters' : '';
    copy.description = [copy.description, `At most ${bytes} ${unit}${line}.`]
      .filter(Boolean)
      .join(' ');
  }
  return copy;
}
