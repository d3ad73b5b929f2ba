import { z } from 'zod';

/**
 * An integer in a query string. It arrives as text, but clients read an integer in the contract.
 * @param byDefault what the call takes when it is left out; documented only, the service applies it
 */
export function queryInt(min: number, max: number, byDefault?: number) {
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
    .meta({
      override: {
        type: 'integer',
        minimum: min,
        maximum: max,
        default: byDefault,
        pattern: undefined,
      },
    });
}

/** A switch in a query string: 0 or 1. */
export const queryFlag = z
  .enum(['0', '1'], { error: 'must be 0 or 1' })
  .transform((value) => value === '1')
  .meta({ override: { type: 'integer', enum: [0, 1], default: 0 } });

/**
 * An instant in a query string: RFC 3339, read as milliseconds since 1970. A `+` that was not encoded arrives as a
 * space. Stored times have whole milliseconds, so a time between two of them is read as the later one: what is from
 * it on, and what is before it, stay the same.
 */
export const queryInstant = z
  .string()
  .transform((value) => value.toUpperCase().replace(/ (?=\d\d:\d\d$)/, '+'))
  .pipe(z.iso.datetime({ offset: true, error: 'must be a time such as 2026-11-29T22:00:00Z' }))
  .transform((value) => Date.parse(value) + (/\.\d{3}\d*[1-9]/.test(value) ? 1 : 0))
  .meta({
    override: {
      type: 'string',
      format: 'date-time',
      description: 'RFC 3339: with Z or an offset such as +02:00.',
      examples: ['2026-11-29T22:00:00Z'],
      pattern: undefined,
    },
  });
