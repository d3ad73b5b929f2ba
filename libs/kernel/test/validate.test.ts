import { type ErrorCode, RelaygerError, SendMessage } from '@relayger/protocol';
import { z } from 'zod';
import { validate } from '../src/http/validate.js';

/** The problems that the caller is told, one a line. */
function problems(schema: z.ZodType, value: unknown, root = 'body'): string[] {
  try {
    validate(schema, value, root);
  } catch (error) {
    const { code, details } = error as RelaygerError<'invalid_request'>;
    expect(code).toBe('invalid_request' satisfies ErrorCode);
    return (details?.issues ?? []).map(({ path, message }) => `${path} ${message}`);
  }
  return [];
}
const schema = z.strictObject({
  name: z.string(),
  count: z.int().min(1).max(3).optional(),
  kind: z.enum(['a', 'b']).optional(),
  tags: z
    .array(z.strictObject({ label: z.string() }))
    .max(2)
    .optional(),
});

test('a value that fits is answered as the schema makes it', () => {
  expect(
    validate(
      schema.transform(({ name }) => name.length),
      { name: 'abc' },
      'body',
    ),
  ).toBe(3);
});

test.each<[unknown, string[]]>([
  [{}, ['body.name is required (string)']],
  [undefined, ['body is required (object)']],
  [null, ['body must be of type object']],
  [[], ['body must be of type object']],
  ['x', ['body must be of type object']],
  [{ name: 5 }, ['body.name must be of type string']],
  [{ name: null }, ['body.name must be of type string']],
  [{ name: 'x', kind: 'c' }, ['body.kind must be "a" or "b"']],
  [{ name: 'x', count: 0 }, ['body.count must have at least 1']],
  [{ name: 'x', count: 4 }, ['body.count must have at most 3']],
  [
    { name: 'x', tags: [{}, { label: 1 }] },
    ['body.tags[0].label is required (string)', 'body.tags[1].label must be of type string'],
  ],
  [{ name: 'x', tags: [1, 2, 3] }, ['body.tags must have at most 2 items']],
  [{ name: 'x', other: 1 }, ['body has unknown field "other"']],
  [{ name: 'x', b: 1, a: 2 }, ['body has unknown fields "b", "a"']],
  [{ name: 'x', tags: [{ label: 'l', x: 1 }] }, ['body.tags[0] has unknown field "x"']],
])('%j is refused with %j', (value, expected) => {
  expect(problems(schema, value)).toEqual(expected);
});

test('query and params are named as such', () => {
  expect(problems(schema, {}, 'query')).toEqual(['query.name is required (string)']);
});

test('at most eight problems are listed, and at most eight unknown fields named', () => {
  const many = Array.from({ length: 30 }, () => 5);
  expect(problems(z.array(z.string()), many)).toHaveLength(8);
  const fields = Object.fromEntries(many.map((value, i) => [`f${i}`, value]));
  expect(problems(z.strictObject({}), fields)).toEqual([
    'body has unknown fields "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"',
  ]);
});

test('names of the caller are cut, and its values are never repeated', () => {
  const long = 'k'.repeat(60_000);
  const [unknown] = problems(z.strictObject({}), { [long]: 1 });
  expect(unknown).toBe(`body has unknown field "${'k'.repeat(64)}"`);
  const [path] = problems(z.record(z.string(), z.number()), { [long]: 'SECRET' });
  expect(path).toBe(`body.${'k'.repeat(64)} must be of type number`);
});

test('the problems of a message name the field inside its type', () => {
  const draft = { schemaVersion: 1, clientMessageId: '3f2a8c1e-5b7d-4e9f-8a6b-0c1d2e3f4a5b' };
  expect(problems(SendMessage, { ...draft, type: 'text', payload: { text: '' } })).toEqual([
    'body.payload.text must not be empty',
  ]);
  expect(problems(SendMessage, { ...draft, type: 'task', payload: {} })).toEqual([
    'body.type must be text, data, sealed, artifact or status; other types are made by the server',
  ]);
  expect(
    problems(SendMessage, { ...draft, type: 'text', payload: { text: 'x' }, schemaVersion: 2 }),
  ).toEqual(['body.schemaVersion must be 1']);
});
