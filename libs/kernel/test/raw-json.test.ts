import fc from 'fast-check';
import { rawMember } from '../src/http/raw-json.js';

test.each([
  ['{"a":1}', ['a'], '1'],
  [' { "a" : { "b" : [ 1 , 2 ] } , "c" : 3 } ', ['a', 'b'], '[ 1 , 2 ]'],
  ['{"a":{"b":"}"},"c":0}', ['a'], '{"b":"}"}'],
  ['{"a":"\\\\","b":2}', ['b'], '2'],
  ['{"a":"\\"","b":2}', ['b'], '2'],
  ['{"a":"{[\\"}]","b":2}', ['b'], '2'],
  ['{"\\u0061":1}', ['a'], '1'],
  ['{"a":1,"a":2}', ['a'], '2'],
  ['{"a":{"b":1},"a":{"c":2}}', ['a', 'b'], undefined],
  ['{"a":1.0e+2}', ['a'], '1.0e+2'],
  ['{"a":-0}', ['a'], '-0'],
  ['{"a":true\n}', ['a'], 'true'],
  ['{"a":null,"b":false}', ['a'], 'null'],
  ['{}', ['a'], undefined],
  ['{"a":[{"b":1}]}', ['a', 'b'], undefined],
  ['[{"a":1}]', ['a'], undefined],
  ['{"a":{}}', ['a'], '{}'],
  ['{"2":"x","1":"y"}', ['2'], '"x"'],
  ['{"":{"":0}}', ['', ''], '0'],
  ['{"toString":1}', ['constructor'], undefined],
])('in %s the member %j is %s', (json, path, expected) => {
  expect(rawMember(json, path)).toBe(expected);
});

/** JSON text in odd spellings, together with what it means. */
interface Spelled {
  text: string;
  value: unknown;
}
const space = fc.stringMatching(/^[ \n\r\t]{0,2}$/);
// No key that ends with a backslash: after one of them JSON.parse itself misreads escaped keys of the same shape
// (nodejs/node#63785).
const key = fc.constantFrom(
  'a',
  'b',
  'payload',
  '',
  '__proto__',
  '1',
  '"',
  '\\b',
  '}',
  'é',
  '😀',
  '\u2028',
);
const spelledKey = fc.tuple(key, fc.boolean()).map(([name, escaped]) => ({
  name,
  text: escaped
    ? `"${name.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`
    : JSON.stringify(name),
}));
const scalar: fc.Arbitrary<Spelled> = fc.oneof(
  fc.string({ unit: 'binary' }).map((value) => ({ text: JSON.stringify(value), value })),
  fc
    .constantFrom(
      '0',
      '-0',
      '1E5',
      '1.50',
      '-1e-7',
      '12345678901234567890',
      'true',
      'false',
      'null',
    )
    .map((text) => ({
      text,
      value: JSON.parse(text) as unknown,
    })),
);
const { node } = fc.letrec<{ node: Spelled; object: Spelled; array: Spelled }>((tie) => ({
  node: fc.oneof({ maxDepth: 4, withCrossShrink: true }, scalar, tie('object'), tie('array')),
  array: fc.tuple(space, fc.array(tie('node'), { maxLength: 3 })).map(([gap, items]) => ({
    text: `[${gap}${items.map(({ text }) => text).join(`${gap},${gap}`)}${gap}]`,
    value: items.map(({ value }) => value),
  })),
  // Keys may repeat; __proto__ is made an own property, as JSON.parse does.
  object: fc
    .tuple(space, fc.array(fc.tuple(spelledKey, tie('node')), { maxLength: 4 }))
    .map(([gap, members]) => ({
      text: `{${gap}${members.map(([name, { text }]) => `${name.text}${gap}:${gap}${text}`).join(`${gap},${gap}`)}${gap}}`,
      value: members.reduce((object, [{ name }, { value }]) => {
        Object.defineProperty(object, name, {
          value,
          enumerable: true,
          configurable: true,
          writable: true,
        });
        return object;
      }, {}),
    })),
}));

function reach(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, name) =>
      typeof at === 'object' && at !== null && !Array.isArray(at) && Object.hasOwn(at, name)
        ? (at as Record<string, unknown>)[name]
        : undefined,
    value,
  );
}

test('the text of a member parses to what JSON.parse finds there, however the document is written', () => {
  fc.assert(
    fc.property(
      space,
      node,
      space,
      fc.array(key, { minLength: 1, maxLength: 3 }),
      (before, { text, value }, after, path) => {
        const json = before + text + after;
        expect(JSON.parse(json)).toEqual(value);
        const raw = rawMember(json, path);
        const expected = reach(JSON.parse(json), path);
        if (expected === undefined) expect(raw).toBeUndefined();
        else expect(JSON.parse(raw as string)).toEqual(expected);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('the text of a member is exactly what was put there, without the space around it', () => {
  fc.assert(
    fc.property(node, node, space, ({ text }, other, gap) => {
      const json = `{${gap}"x":${other.text},"payload"${gap}:${gap}${text}${gap},"y":${other.text}}`;
      expect(rawMember(json, ['payload'])).toBe(text);
      expect(rawMember(`{"message":${gap}${json}${gap}}`, ['message', 'payload'])).toBe(text);
    }),
    { numRuns: 1_000 },
  );
});

test('60,000 levels of nesting are passed over without recursion', () => {
  const deep = '['.repeat(60_000) + ']'.repeat(60_000);
  expect(rawMember(`{"a":${deep},"b":1}`, ['b'])).toBe('1');
  expect(rawMember(`{"a":${deep}}`, ['a'])).toBe(deep);
});
