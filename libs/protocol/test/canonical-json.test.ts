import { canonicalJson } from '../src/index.js';

test('keys are sorted by code units and nothing is between the tokens', () => {
  // RFC 8785 section 3.2.3.
  const unsorted = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  };
  const values = Object.values(JSON.parse(canonicalJson(unsorted)) as Record<string, string>);
  expect(values[0]).toBe('One');
  expect(canonicalJson(unsorted)).toBe(
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis",' +
      '"\u20ac":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  );
});

test('numbers, texts and literals are written as RFC 8785 wants them', () => {
  // RFC 8785 section 3.2.2.
  const input: unknown = JSON.parse(
    String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,-0],
      "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
  );
  expect(canonicalJson(input)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],' +
      '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test('the order of keys makes no difference at any depth, the order of items does', () => {
  const one = { b: [{ y: 1, x: { d: 2, c: 3 } }], a: 'z' };
  const other = { a: 'z', b: [{ x: { c: 3, d: 2 }, y: 1 }] };
  expect(canonicalJson(one)).toBe(canonicalJson(other));
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test('members that are undefined are left out', () => {
  expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
});

test.each<[string, unknown]>([
  ['a number that is not finite', { n: Number.NaN }],
  ['infinity', [Number.POSITIVE_INFINITY]],
  ['half of a surrogate pair', '\ud83d'],
  ['half of a surrogate pair as a key', { '\ude00': 1 }],
  ['an undefined item', [undefined]],
  ['a function', { f: () => 1 }],
  ['a bigint', 1n],
])('%s is no JSON', (_, value) => {
  expect(() => canonicalJson(value)).toThrow(TypeError);
});
