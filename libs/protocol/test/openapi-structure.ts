/**
 * The part of OpenAPI 3.1 that our document uses, as a JSON Schema that allows nothing else: a misspelt or
 * misplaced word would pass the official schema as an extension. Schema Objects are checked by ajv itself.
 */
const text = { type: 'string', minLength: 1 };
const mapOf = ($ref: string) => ({ type: 'object', additionalProperties: { $ref } });
const orReference = (schema: object) => ({
  if: { required: ['$ref'] },
  // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
  then: { properties: { $ref: { pattern: '^#/components/' } }, additionalProperties: false },
  else: schema,
});

function object(required: Record<string, object>, optional: Record<string, object> = {}) {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

export const structure = {
  $id: 'structure',
  ...object(
    {
      openapi: { pattern: '^3\\.1\\.[0-9]+$' },
      info: object({
        title: text,
        version: { pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+' },
        description: text,
        license: object({ name: text, identifier: { const: 'MIT' } }),
      }),
      servers: { type: 'array', items: object({ url: text }), minItems: 1 },
      tags: { type: 'array', items: object({ name: text, description: text }), uniqueItems: true },
      paths: {
        type: 'object',
        propertyNames: { pattern: '^/[^?#]*$' },
        additionalProperties: { $ref: '#/$defs/pathItem' },
      },
      components: object({
        schemas: { type: 'object', propertyNames: { pattern: '^[A-Za-z0-9]+$' } },
        responses: mapOf('#/$defs/response'),
        headers: mapOf('#/$defs/header'),
        examples: mapOf('#/$defs/example'),
        securitySchemes: object({
          bearer: object({
            type: { const: 'http' },
            scheme: { const: 'bearer' },
            description: text,
          }),
          session: object({
            type: { const: 'apiKey' },
            in: { const: 'cookie' },
            name: text,
            description: text,
          }),
        }),
      }),
    },
    { 'x-errors': mapOf('#/$defs/error') },
  ),
  $defs: {
    pathItem: object(
      {},
      Object.fromEntries(methods.map((name) => [name, { $ref: '#/$defs/operation' }])),
    ),
    operation: object(
      {
        operationId: { pattern: '^[a-z][A-Za-z]+$' },
        tags: { type: 'array', items: text, minItems: 1, maxItems: 1 },
        summary: { type: 'string', pattern: '[^.]$' },
        description: { type: 'string', pattern: '\\.$' },
        security: {
          type: 'array',
          // Alternatives: a token or, for people, the cookie of a web session.
          items: {
            anyOf: ['bearer', 'session'].map((name) =>
              object({ [name]: { type: 'array', maxItems: 0 } }),
            ),
          },
          maxItems: 2,
        },
        responses: {
          type: 'object',
          propertyNames: { pattern: '^(101|[2-5][0-9]{2})$' },
          additionalProperties: { $ref: '#/$defs/response' },
        },
      },
      {
        'x-scopes': { type: 'array', items: text },
        parameters: { type: 'array', items: { $ref: '#/$defs/parameter' }, minItems: 1 },
        requestBody: object(
          { required: { type: 'boolean' }, content: { $ref: '#/$defs/content' } },
          { description: text },
        ),
      },
    ),
    parameter: {
      ...object(
        {
          in: { enum: ['path', 'query'] },
          name: { pattern: '^[a-z][A-Za-z]*$' },
          schema: { $ref: '#/$defs/schema' },
        },
        { required: { const: true }, description: text },
      ),
      if: { properties: { in: { const: 'path' } } },
      // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
      then: { required: ['required'] },
    },
    response: orReference(
      object(
        { description: text },
        // A WebSocket has no content.
        { content: { $ref: '#/$defs/content' }, headers: mapOf('#/$defs/header') },
      ),
    ),
    header: orReference(
      object(
        { description: text, schema: { $ref: '#/$defs/schema' } },
        { required: { const: true } },
      ),
    ),
    content: {
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: object(
        { schema: { $ref: '#/$defs/schema' } },
        { example: {}, examples: mapOf('#/$defs/example') },
      ),
    },
    example: orReference(object({ value: {} }, { summary: text })),
    error: object(
      { status: { type: 'integer', minimum: 400, maximum: 599 }, message: text },
      { details: { type: 'object', additionalProperties: text } },
    ),
    // An empty schema accepts anything, which is what a forgotten `.meta` looks like.
    schema: { type: 'object', minProperties: 1 },
  },
};
