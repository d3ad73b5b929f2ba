import fc from 'fast-check';
import { z } from 'zod';
import * as protocol from '../src/index.js';
import { allTypes, draft, envelope, mailboxItem, sendableTypes } from './samples.js';

const { ERRORS, MailboxItem, Message, OPERATIONS, SendMessage } = protocol;

type Def = z.core.$ZodTypes['_zod']['def'];

/** The schemas directly inside a schema, with a word for the way there. */
function inside(schema: z.core.$ZodType): [string, z.core.$ZodType][] {
  const def = schema._zod.def as Def;
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape);
    case 'array':
      return [['[]', def.element]];
    case 'union':
      return def.options.map((option, at) => [`|${at}`, option]);
    case 'optional':
    case 'nullable':
    case 'default':
    case 'readonly':
      return [['', def.innerType]];
    case 'pipe':
      return [
        ['', def.in],
        ['', def.out],
      ];
    case 'record':
      return [['{}', def.valueType]];
    default:
      return [];
  }
}

const roots: [string, z.core.$ZodType][] = [
  ...Object.entries(protocol).flatMap(([name, value]): [string, z.ZodType][] =>
    value instanceof z.ZodType ? [[name, value]] : [],
  ),
  ...Object.entries(ERRORS).flatMap(([code, entry]): [string, z.ZodType][] =>
    'details' in entry ? [[code, entry.details]] : [],
  ),
  ...OPERATIONS.flatMap(({ id, params, query, body, responses }) =>
    [params, query, body, ...Object.values(responses).map((response) => response.schema)]
      .filter((schema) => schema !== undefined)
      .map((schema): [string, z.ZodType] => [id, schema]),
  ),
];

/** Valid values with their schemas: every example of the contract, and every message type in full. */
const samples: [string, z.ZodType, unknown][] = [
  ...OPERATIONS.flatMap(({ id, body, example, responses }) => [
    ...(body ? [[id, body, example] as [string, z.ZodType, unknown]] : []),
    ...Object.values(responses).flatMap((response): [string, z.ZodType, unknown][] =>
      response.schema ? [[id, response.schema, response.example]] : [],
    ),
  ]),
  ...sendableTypes.map((type): [string, z.ZodType, unknown] => [type, SendMessage, draft(type)]),
  ...allTypes.map((type): [string, z.ZodType, unknown] => [type, Message, envelope(type)]),
  ...allTypes.map((type): [string, z.ZodType, unknown] => [type, MailboxItem, mailboxItem(type)]),
];

/** Every object inside a value, except free-form data. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : [value];
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, item]) => (key === 'data' ? [] : objectsIn(item))),
  ];
}

/** Every object schema of the contract, with the way to it. */
function objectSchemas(): Map<z.core.$ZodObjectDef, string> {
  const found = new Map<z.core.$ZodObjectDef, string>();
  const seen = new Set<z.core.$ZodType>();
  const visit = (path: string, schema: z.core.$ZodType): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    const def = schema._zod.def as Def;
    if (def.type === 'object') found.set(def, path);
    for (const [step, next] of inside(schema)) visit(`${path}.${step}`, next);
  };
  for (const [name, schema] of roots) visit(name, schema);
  return found;
}

const objects = objectSchemas();
/** A name that some object has may be an optional field of another. */
const fields = new Set([...objects.keys()].flatMap(({ shape }) => Object.keys(shape)));

describe('unknown fields', () => {
  it('are refused by every object of the contract', () => {
    const open = [...objects].filter(([{ catchall }]) => catchall?._zod.def.type !== 'never');
    expect(open.map(([, path]) => path)).toEqual([]);
    expect(objects.size).toBeGreaterThan(50);
  });

  it('make every valid value invalid, wherever they stand and whatever they are called', () => {
    const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', '0'));
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.nat(),
        key,
        fc.jsonValue(),
        ([, schema, sample], at, name, value) => {
          const copy = structuredClone(sample);
          const objects = objectsIn(copy);
          fc.pre(objects.length > 0);
          const object = objects[at % objects.length] as object;
          fc.pre(!Object.hasOwn(object, name) && !fields.has(name));
          // An own property even for __proto__, as JSON.parse makes it.
          Object.defineProperty(object, name, {
            value,
            enumerable: true,
            configurable: true,
            writable: true,
          });
          expect(schema.safeParse(copy).success).toBe(false);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('a check', () => {
  it('never throws, whatever the value', () => {
    const schemas = fc.constantFrom(...roots.map(([, schema]) => schema as z.ZodType));
    fc.assert(
      fc.property(
        schemas,
        fc.anything({ withBigInt: true, withNullPrototype: true }),
        (schema, value) => {
          schema.safeParse(value);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('never throws when any part of a valid value is replaced', () => {
    const odd = fc.oneof(
      fc.string(),
      fc.jsonValue(),
      fc.constantFrom('1.0', 'abc', '-', null, [], {}, Infinity),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.nat(),
        fc.nat(),
        odd,
        ([, schema, sample], at, field, value) => {
          const copy = structuredClone(sample);
          const objects = objectsIn(copy);
          fc.pre(objects.length > 0);
          const object = objects[at % objects.length] as Record<string, unknown>;
          const keys = Object.keys(object);
          fc.pre(keys.length > 0);
          object[keys[field % keys.length] as string] = value;
          schema.safeParse(copy);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
