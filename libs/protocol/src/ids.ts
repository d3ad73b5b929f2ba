import { z } from 'zod';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for lowercase UUID text of any version. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** An id: lowercase UUID text. */
export const Uuid = z
  .string()
  .regex(UUID, 'must be a lowercase UUID')
  .meta({
    id: 'Uuid',
    description: 'A lowercase UUID.',
    format: 'uuid',
    examples: ['0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01'],
  });

const SEQUENCE = /^(0|[1-9][0-9]{0,18})$/;
const MAX_INT64 = 9_223_372_036_854_775_807n;

/** A position in a room: a decimal string, because it may pass 2^53 (signed 64 bit). */
export const Sequence = z
  .string()
  .regex(SEQUENCE, 'must be a decimal string such as "42"')
  // zod runs this after a failed pattern too, and BigInt throws on what is not a number.
  .refine((value) => !SEQUENCE.test(value) || BigInt(value) <= MAX_INT64, {
    error: 'must fit a signed 64-bit integer',
  })
  .meta({
    id: 'Sequence',
    description: 'A position in a room: a decimal string from "0" to "9223372036854775807".',
    examples: ['42'],
  });

/** An instant in UTC: ISO 8601 with Z. */
export const UtcTime = z.iso.datetime().meta({
  id: 'UtcTime',
  description: 'An instant in UTC, ISO 8601 with Z.',
  examples: ['2026-11-29T22:00:00.000Z'],
  // The calendar is in `format`; zod's own pattern spells it out in 300 characters.
  override: { pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]+)?Z$' },
});

/** A permanent number in its plain form: 10 digits. */
export const PlainNumber = z
  .string()
  .regex(/^[1-9][0-9]{9}$/)
  .meta({
    id: 'Number',
    description: 'A permanent number: 10 digits, the last a Luhn check digit.',
    examples: ['1234567897'],
  });

/** A handle: 2-40 characters of a-z 0-9 _ -, first a letter. */
export const Handle = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{1,39}$/,
    'must have 2 to 40 characters from a-z 0-9 _ - and start with a letter',
  )
  .meta({ id: 'Handle', description: 'A unique handle, without @.', examples: ['report-agent'] });
