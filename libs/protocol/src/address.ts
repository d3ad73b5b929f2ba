import { z } from 'zod';
import { fail, failField } from './errors.js';
import { Handle, isUuid } from './ids.js';
import { numberProblem } from './numbers.js';

/** One of the three ways to name an identity. */
export type Address = { kind: 'number' | 'handle' | 'id'; value: string };

/** Characters that people and programs write inside a number: + space - . ( ) (contract/http.md section 0). */
const SEPARATORS = /[+ \-.()]/g;

/**
 * Reads a number in any accepted spelling.
 * @throws RelaygerError `invalid_number` or `invalid_number_check_digit`
 */
export function parseNumber(raw: string): string {
  const digits = raw.replace(SEPARATORS, '');
  const problem = numberProblem(digits);
  return problem ? fail(problem) : digits;
}

/**
 * Reads a number (in any accepted spelling), a handle with or without `@`, or an identity UUID.
 * @param path where the text stood, for the error
 * @throws RelaygerError `invalid_number`, `invalid_number_check_digit` or `invalid_request`
 */
export function parseAddress(raw: string, path = 'params.address'): Address {
  if (isUuid(raw)) return { kind: 'id', value: raw };
  if (/^[0-9]+$/.test(raw.replace(SEPARATORS, '')))
    return { kind: 'number', value: parseNumber(raw) };
  const handle = raw.startsWith('@') ? raw.slice(1) : raw;
  if (Handle.safeParse(handle).success) return { kind: 'handle', value: handle };
  failField(path, 'must be a 10-digit number, a @handle or an identity UUID');
}

/** An address as text; `parseAddress` reads it, so that a mistyped number gets its own error. */
export const AddressText = z
  .string()
  .min(1)
  .max(80)
  .meta({
    id: 'Address',
    description:
      'A 10-digit number (the characters + space - . ( ) are ignored), a @handle or an identity UUID.',
    examples: ['1234567897', '@report-agent'],
  });
