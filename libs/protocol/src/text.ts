import { z } from 'zod';
import { LIMITS } from './limits.js';

/** Length of a string in UTF-8 bytes, the unit of every text limit of the contract. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
}

/**
 * Why a string cannot be stored, or null. PostgreSQL text holds neither U+0000 nor half of a surrogate pair;
 * refusing them here keeps a message from being changed silently on its way.
 */
export function unstorable(text: string): string | null {
  if (text.includes('\u0000')) return 'must not contain the character U+0000';
  if (!text.isWellFormed()) return 'must not contain half of a surrogate pair';
  return null;
}

interface TextRules {
  /** Fewest UTF-8 bytes; 0 when absent. */
  min?: number;
  /** Most UTF-8 bytes. */
  max: number;
  /** One line without control characters. */
  line?: boolean;
}

// C0, DEL, C1 and the two Unicode line separators: everything that would break a single line of output.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const LINE = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/;

/** True when the text is one line without control characters. */
export function isLine(text: string): boolean {
  return LINE.test(text);
}

/** A text field with its limits counted in UTF-8 bytes. */
export function text({ min = 0, max, line = false }: TextRules) {
  return (
    z
      .string()
      .superRefine((value, ctx) => {
        const problem = unstorable(value);
        const bytes = utf8Bytes(value);
        if (problem) ctx.addIssue({ code: 'custom', message: problem });
        else if (bytes < min)
          ctx.addIssue({
            code: 'custom',
            message: min === 1 ? 'must not be empty' : `must have at least ${min} bytes`,
          });
        else if (bytes > max)
          ctx.addIssue({
            code: 'custom',
            message: `must have at most ${max} UTF-8 bytes, has ${bytes}`,
          });
        else if (line && !isLine(value))
          ctx.addIssue({ code: 'custom', message: 'must be one line without control characters' });
      })
      // JSON Schema counts characters, of which there are never more than bytes: its limits hold, ours are exact.
      .meta({
        ...(min > 0 && { minLength: Math.ceil(min / 4) }),
        maxLength: max,
        ...(line && { pattern: LINE.source }),
        'x-max-bytes': max,
      })
  );
}

type JsonObject = Record<string, z.core.util.JSONType>;

interface Found {
  path: (string | number)[];
  problem: string;
}

/** Why one key of a JSON object cannot be stored, or null. */
function keyProblem(key: string): string | null {
  // Whoever copies the object later would set its prototype instead, and lose the value silently.
  if (key === '__proto__') return 'must not have a key __proto__';
  const problem = unstorable(key);
  return problem && `has a key that ${problem}`;
}

/** Where and why a value cannot be stored as JSON and read back the same, or null. */
function findUnstorable(value: unknown, path: (string | number)[]): Found | null {
  const at = (problem: string | null) => (problem === null ? null : { path, problem });
  if (typeof value === 'string') return at(unstorable(value));
  if (typeof value === 'number')
    return at(Number.isFinite(value) ? null : 'must be a finite number');
  if (value === null || typeof value === 'boolean') return null;
  if (!Array.isArray(value) && !z.core.util.isPlainObject(value)) return at('must be a JSON value');
  if (path.length >= LIMITS.dataDepth)
    return at(`must be nested at most ${LIMITS.dataDepth} levels deep`);
  for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const problem = typeof key === 'string' ? keyProblem(key) : null;
    const found = problem === null ? findUnstorable(item, [...path, key]) : { path, problem };
    if (found) return found;
  }
  return null;
}

/**
 * A JSON object of any shape, at most `maxBytes` of compact UTF-8 JSON and `LIMITS.dataDepth` levels deep. The
 * value passes through as it is: `z.record(z.string(), z.json())` drops keys named `__proto__` silently and
 * overflows the stack on some thousand brackets.
 */
export function jsonObject(maxBytes: number) {
  return z
    .custom<JsonObject>()
    .superRefine((value: unknown, ctx) => {
      const issue = (message: string, path: (string | number)[] = []) =>
        ctx.addIssue({ code: 'custom', message, path });
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return issue('must be a JSON object');
      const found = findUnstorable(value, []);
      if (found) return issue(found.problem, found.path);
      const bytes = utf8Bytes(JSON.stringify(value));
      if (bytes > maxBytes) issue(`must have at most ${maxBytes} bytes of JSON, has ${bytes}`);
    })
    .meta({ type: 'object', additionalProperties: true, 'x-max-bytes': maxBytes });
}
