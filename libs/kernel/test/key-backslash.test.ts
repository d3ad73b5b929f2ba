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
