import { z } from 'zod';

/** An integer in a query string. */
export function queryInt(min: number, max: number) {
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
}

/** A switch in a query string: 0 or 1. */
export const queryFlag = z.enum(['0', '1'], { error: 'must be 0 or 1' }).transform((value) => value === '1');
