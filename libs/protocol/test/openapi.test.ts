import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { ERRORS, type ErrorCode, errorStatus, OPERATIONS, operationErrors } from '../src/index.js';
import { structure } from './openapi-structure.js';
import { allTypes, envelope } from './samples.js';

interface MediaType {
  schema: object;
  example?: unknown;
  examples?: Record<string, object>;
}
interface ResponseObject {
  /** Absent where the reply has no body: 101. */
  content?: Record<string, MediaType>;
  headers?: Record<string, object>;
}
interface OperationObject {
  operationId: string;
  tags: string[];
  security: object[];
  'x-scopes'?: string[];
  parameters?: { in: string; name: string; schema: object }[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, object>;
}
interface Document {
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, object>; examples: Record<string, { value: unknown }> };
  'x-errors': Record<string, { status: number; message: string; details?: object }>;
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../openapi/${name}`, import.meta.url), 'utf8')) as object;
const document = read('openapi.json') as Document;

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, 'openapi');

function resolve(node: object): object {
  if (!('$ref' in node)) return node;
  const steps = String(node.$ref).split('/').slice(1);
  return steps.reduce<object>(
    (value, step) => (value as Record<string, object>)[step] as object,
    document,
  );
}

const compiled = new Map<string, ValidateFunction>();

/** ajv's verdict on a value; references lead into the whole document. */
function problems(schema: object, value: unknown): unknown[] {
  const absolute = JSON.stringify(schema).replaceAll('"#/', '"openapi#/');
  const validate = compiled.get(absolute) ?? ajv.compile(JSON.parse(absolute) as object);
  compiled.set(absolute, validate);
  return validate(value) ? [] : (validate.errors ?? []);
}

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation,
  })),
);

/** Every node of the document with its place. */
function* nodes(value: unknown, path = '#'): Generator<[string, object]> {
  if (typeof value !== 'object' || value === null) return;
  yield [path, value];
  for (const [key, item] of Object.entries(value)) yield* nodes(item, `${path}/${key}`);
}

describe('openapi.json', () => {
  it('has the structure of OpenAPI 3.1', () => {
    const validate = new Ajv2020({
      allErrors: false,
      strictRequired: false,
      strictTypes: false,
    }).compile(structure);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('has schemas of JSON Schema 2020-12 only, and every reference leads somewhere', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect([name, ajv.validateSchema(schema)]).toEqual([name, true]);
      ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
    }
    const broken = [...nodes(document)].filter(
      ([, node]) => '$ref' in node && resolve(node) === undefined,
    );
    expect(broken).toEqual([]);
  });

  it('has every operation, and no other', () => {
    const described = operations.map(
      ({ path, method, operation }) => `${operation.operationId} ${method} ${path}`,
    );
    expect(described.sort()).toEqual(
      OPERATIONS.map(({ id, method, path }) => `${id} ${method} ${path}`).sort(),
    );
  });
});

describe.each(OPERATIONS)('$id', (definition) => {
  const operation = document.paths[definition.path]?.[
    definition.method.toLowerCase()
  ] as OperationObject;
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [Number(status), resolve(response) as ResponseObject] as const,
  );
  const media = responses.flatMap(([status, { content = {} }]) =>
    Object.values(content)
      .slice(0, 1)
      .map((type) => [status, type] as const),
  );

  it('says who may call it', () => {
    const { access } = definition;
    expect(operation.security).toEqual(
      access === 'public' ? [] : [{ bearer: [] }, { session: [] }],
    );
    expect(operation['x-scopes']).toEqual(access === 'public' ? undefined : access.scopes);
    if (access !== 'public') {
      const success = responses.find(([status]) => status < 300)?.[1];
      expect(Object.keys(success?.headers ?? {})).toEqual(
        expect.arrayContaining(['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']),
      );
    }
  });

  it('declares the parameters of its path and query', () => {
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    const wanted = [...definition.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(inPath.map(({ name }) => name)).toEqual(wanted);
    for (const { name, schema } of operation.parameters ?? []) {
      const { type, pattern } = resolve(schema) as { type?: string; pattern?: string };
      // A number in a query is documented as one, although it arrives as text.
      if (/^(limit|wait|consume|maxBytes)$/.test(name))
        expect([type, pattern]).toEqual(['integer', undefined]);
    }
  });

  it('has examples that its schemas take', () => {
    const body = Object.values(operation.requestBody?.content ?? {})[0];
    // Bytes have none.
    if (body && !definition.bytes) expect(problems(body.schema, body.example)).toEqual([]);
    for (const [, { schema, example, examples }] of media) {
      if (example !== undefined) expect(problems(schema, example)).toEqual([]);
      for (const reference of Object.values(examples ?? {})) {
        expect(problems(schema, (resolve(reference) as { value: unknown }).value)).toEqual([]);
      }
    }
  });

  it('takes exactly its own error codes', () => {
    const own = new Set(operationErrors(definition));
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const value = document.components.examples[code]?.value;
      const described = media.find(([status]) => status === errorStatus(code))?.[1];
      const accepted = described !== undefined && problems(described.schema, value).length === 0;
      expect([code, accepted]).toEqual([code, own.has(code)]);
      expect(described?.examples?.[code] !== undefined).toBe(own.has(code));
    }
  });
});

describe('x-errors', () => {
  it('is the catalogue', () => {
    const catalogue = Object.entries(ERRORS).map(([code, { message }]) => [
      code,
      { status: errorStatus(code as ErrorCode), message },
    ]);
    const documented = Object.entries(document['x-errors']).map(([code, { status, message }]) => [
      code,
      { status, message },
    ]);
    expect(documented).toEqual(catalogue);
    for (const [code, { details }] of Object.entries(document['x-errors'])) {
      expect([code, details !== undefined]).toEqual([code, 'details' in ERRORS[code as ErrorCode]]);
    }
  });
});

describe('message.schema.json', () => {
  const schema = read('message.schema.json');
  const validate = formats
    .default(new Ajv2020({ strictTypes: false, keywords: ['x-max-bytes'] }))
    .compile(schema);

  it('is a JSON Schema 2020-12 of its own', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'urn:relayger:schema:message:v1',
    });
    expect(JSON.stringify(schema)).not.toContain('#/components/');
  });

  it.each(allTypes)('takes a %s message, and no unknown field', (type) => {
    expect([validate(envelope(type)), validate.errors]).toEqual([true, null]);
    expect(validate({ ...envelope(type), extra: 1 })).toBe(false);
    const { payload } = envelope(type) as { payload: object };
    expect(validate({ ...envelope(type), payload: { ...payload, extra: 1 } })).toBe(false);
  });
});
