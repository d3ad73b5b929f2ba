import { RelaygerError } from '@relayger/protocol';
import type { z } from 'zod';

/** At most this many problems are listed; the caller corrects them and sees the rest. */
const MAX_ISSUES = 8;

/** Keys are the caller's text: quoted only so far that the field can be found. */
const MAX_KEY = 64;

function pathOf(root: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : `${text}.${String(key).slice(0, MAX_KEY)}`,
    root,
  );
}

function quote(keys: readonly string[]): string {
  return keys
    .slice(0, MAX_ISSUES)
    .map((key) => JSON.stringify(key.slice(0, MAX_KEY)))
    .join(', ');
}

/** Sentences for zod's own issues that would otherwise speak of zod's types. */
function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return `has unknown field${issue.keys.length > 1 ? 's' : ''} ${quote(issue.keys)}`;
    case 'invalid_type':
      return issue.input === undefined
        ? `is required (${issue.expected})`
        : `must be of type ${issue.expected}`;
    case 'invalid_value':
      return issue.message.startsWith('Invalid')
        ? `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
        : issue.message;
    case 'too_big':
      return `must have at most ${issue.maximum}${issue.origin === 'array' ? ' items' : ''}`;
    case 'too_small':
      return `must have at least ${issue.minimum}${issue.origin === 'array' ? ' items' : ''}`;
    default:
      return issue.message;
  }
}

/**
 * Checks one part of a request against its schema.
 * @param root what the part is called in `details.issues[].path`: body, query or params
 * @throws RelaygerError `invalid_request` listing the problems; the values themselves are never repeated
 */
export function validate<S extends z.ZodType>(
  schema: S,
  value: unknown,
  root: string,
): z.output<S> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  throw new RelaygerError('invalid_request', {
    issues: result.error.issues
      .slice(0, MAX_ISSUES)
      .map((issue) => ({ path: pathOf(root, issue.path), message: messageOf(issue) })),
  });
}
