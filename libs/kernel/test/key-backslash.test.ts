import { hasKeyEndingInBackslash } from '../src/http/raw-json.js';

test.each([
  [String.raw`{"a\\":1}`, true],
  [String.raw`{"a\u005c" : 1}`, true],
  [String.raw`{"a\u005C":1}`, true],
  [String.raw`{"x":{"\\":{}}}`, true],
  [String.raw`{"a":"b\\"}`, false],
  [String.raw`{"a":"b\\\": c"}`, false],
  [String.raw`{"a\\b":"c\\"}`, false],
  [String.raw`{"a\\u005c":1}`, false],
  [String.raw`{"a\\\"":1}`, false],
  ['{"a":1}', false],
  [String.raw`{"a\\`, false],
])('%s: %s', (json, expected) => {
  expect(hasKeyEndingInBackslash(json)).toBe(expected);
});

test('a run of backslashes is read in no time, however long', () => {
  const key = '\\'.repeat(64_000);
  const started = performance.now();
  expect(hasKeyEndingInBackslash(`{"${key}x":1,"a":"\\\\"}`)).toBe(false);
  expect(hasKeyEndingInBackslash(`{"${key}":1}`)).toBe(true);
  expect(hasKeyEndingInBackslash(`{"${key}\\u005c":1}`)).toBe(true);
  // Beginning anew at each of them took seconds.
  expect(performance.now() - started).toBeLessThan(500);
});
