import fc from 'fast-check';
import { isLine, jsonObject, LIMITS, text, unstorable, utf8Bytes } from '../src/index.js';

const EMOJI = '😀';

describe('text', () => {
  it('is counted in UTF-8 bytes', () => {
    const encoder = new TextEncoder();
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        expect(utf8Bytes(value)).toBe(encoder.encode(value).length);
      }),
    );
  });

  it.each([
    ['one byte each', 'a'.repeat(16)],
    ['two bytes each', 'é'.repeat(8)],
    ['three bytes each', '€'.repeat(5)],
    ['four bytes each', EMOJI.repeat(4)],
    ['four bytes at the edge', 'a'.repeat(12) + EMOJI],
  ])('fits its limit: %s', (_, value) => {
    const schema = text({ min: 1, max: 16 });
    expect(schema.parse(value)).toBe(value);
    expect(schema.safeParse(value + EMOJI).success).toBe(false);
    expect(schema.safeParse(`${'a'.repeat(16 - utf8Bytes(value) + 1)}${value}`).success).toBe(
      false,
    );
  });

  it('says how long it is', () => {
    const issue = text({ max: 16 }).safeParse('a'.repeat(13) + EMOJI).error?.issues[0];
    expect(issue?.message).toBe('must have at most 16 UTF-8 bytes, has 17');
    expect(text({ min: 1, max: 16 }).safeParse('').error?.issues[0]?.message).toBe(
      'must not be empty',
    );
    expect(text({ max: 16 }).parse('')).toBe('');
    expect(text({ min: 5, max: 16 }).safeParse(EMOJI).success).toBe(false);
  });

  it.each([
    ['a high surrogate', 'a\ud83d'],
    ['a high surrogate before a letter', '\ud83da'],
    ['a low surrogate', '\ude00a'],
    ['a pair the wrong way round', '\ude00\ud83d'],
    ['U+0000', 'a\u0000'],
  ])('is refused with %s', (_, value) => {
    expect(unstorable(value)).toEqual(expect.any(String));
    expect(text({ max: 100 }).safeParse(value).success).toBe(false);
    expect(jsonObject(100).safeParse({ a: [{ b: value }] }).success).toBe(false);
    expect(jsonObject(100).safeParse({ [value]: 1 }).success).toBe(false);
  });

  it.each(['\n', '\r', '\t', '\u001b', '\u007f', '\u0085', '\u2028', '\u2029'])(
    'is no line with %j, and otherwise free to hold it',
    (control) => {
      expect(isLine(`a${control}b`)).toBe(false);
      expect(text({ max: 100, line: true }).safeParse(`a${control}`).success).toBe(false);
      expect(text({ max: 100 }).parse(`a${control}`)).toBe(`a${control}`);
    },
  );
});

describe('a JSON object', () => {
  const schema = jsonObject(LIMITS.dataBytes);
  /** `{"a":[[[…]]]}` of so many levels. */
  const nested = (levels: number): unknown =>
    JSON.parse(`{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`);
  const problem = (value: unknown) => schema.safeParse(value).error?.issues[0];

  it('is counted as compact UTF-8 JSON', () => {
    const empty = '{"k":""}'.length;
    const full = { k: 'x'.repeat(LIMITS.dataBytes - empty - 4) + EMOJI };
    expect(schema.parse(full)).toBe(full);
    expect(problem({ k: `${full.k}x` })?.message).toContain('has 32769');
    // What JSON must escape counts as it is escaped.
    expect(problem({ k: '\u0001'.repeat(LIMITS.dataBytes / 6) })).toBeDefined();
  });

  it('is nested at most 60 levels, without an overflow beyond', () => {
    expect(problem(nested(LIMITS.dataDepth))).toBeUndefined();
    expect(problem(nested(LIMITS.dataDepth + 1))?.message).toContain('at most 60 levels');
    expect(problem(nested(16_000))?.message).toContain('at most 60 levels');
  });

  it.each([[null], [[]], ['a'], [1], [undefined], [new Date(0)], [new Map()]])(
    'is not %p',
    (value) => {
      expect(problem(value)).toBeDefined();
    },
  );

  it.each([
    [undefined],
    [Number.NaN],
    [Infinity],
    [1n],
    [() => 1],
    [new Date(0)],
    [Symbol.iterator],
  ])('holds no %p', (value) => {
    expect(problem({ a: { b: [1, value] } })?.path).toEqual(['a', 'b', 1]);
  });

  it('keeps every key, and refuses the one that copying would lose', () => {
    const keys = JSON.parse(
      '{"constructor":{"prototype":1},"toString":2,"1":3,"":4,"toJSON":5}',
    ) as object;
    expect(JSON.stringify(schema.parse(keys))).toBe(JSON.stringify(keys));
    expect(problem(JSON.parse('{"a":{"__proto__":{}}}'))?.message).toContain('__proto__');
    expect(problem(JSON.parse('{"__proto__":1}'))?.message).toContain('__proto__');
  });

  it('passes any other JSON through as it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (value) => {
        const json = JSON.stringify(value);
        // `\u0000` and __proto__ have their own tests.
        fc.pre(!json.includes('\\u0000') && !json.includes('__proto__'));
        expect(JSON.stringify(schema.parse(value))).toBe(json);
      }),
    );
  });
});
