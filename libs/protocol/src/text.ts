import { z } from 'zod';

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
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** True when the text is one line without control characters. */
export function isLine(text: string): boolean {
  return !CONTROL.test(text);
}

/** A text field with its limits counted in UTF-8 bytes. */
export function text({ min = 0, max, line = false }: TextRules) {
  return z
    .string()
    .superRefine((value, ctx) => {
      const problem = unstorable(value);
      const bytes = utf8Bytes(value);
      if (problem) ctx.addIssue({ code: 'custom', message: problem });
      else if (bytes < min) ctx.addIssue({ code: 'custom', message: min === 1 ? 'must not be empty' : `must have at least ${min} bytes` });
      else if (bytes > max) ctx.addIssue({ code: 'custom', message: `must have at most ${max} UTF-8 bytes, has ${bytes}` });
      else if (line && !isLine(value)) ctx.addIssue({ code: 'custom', message: 'must be one line without control characters' });
    })
    .meta({ minLength: min > 0 ? 1 : 0, maxLength: max, 'x-max-bytes': max });
}

/** Where a JSON value holds text that cannot be stored, or null. Keys count too. */
function findUnstorable(value: unknown, path: string): { path: string; problem: string } | null {
  if (typeof value === 'string') {
    const problem = unstorable(value);
    return problem ? { path, problem } : null;
  }
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const found = findUnstorable(item, `${path}[${i}]`);
      if (found) return found;
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      const problem = unstorable(key);
      if (problem) return { path, problem: `has a key that ${problem}` };
      const found = findUnstorable(item, path ? `${path}.${key}` : key);
      if (found) return found;
    }
  }
  return null;
}

/** A JSON object of any shape, at most `maxBytes` of compact UTF-8 JSON. */
export function jsonObject(maxBytes: number) {
  return z
    .record(z.string(), z.json())
    .superRefine((value, ctx) => {
      const found = findUnstorable(value, '');
      if (found) ctx.addIssue({ code: 'custom', path: found.path ? [found.path] : [], message: found.problem });
      const bytes = utf8Bytes(JSON.stringify(value));
      if (bytes > maxBytes) ctx.addIssue({ code: 'custom', message: `must have at most ${maxBytes} bytes of JSON, has ${bytes}` });
    })
    .meta({ 'x-max-bytes': maxBytes });
}
