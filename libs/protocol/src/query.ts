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
