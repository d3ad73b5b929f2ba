import type { Actor } from '@relayger/operator';
import { z } from 'zod';
import type { Services } from './services.js';

/** One command of the tool: what it takes, what it does, and the result that is printed as JSON. */
export interface Command {
  readonly summary: string;
  readonly options: z.ZodRawShape;
  run(services: Services, actor: Actor, values: unknown): Promise<unknown>;
}

/** Declares a command; its `run` gets the options as their schemas read them. */
export function command<S extends z.ZodRawShape>(definition: {
  summary: string;
  options: S;
  run(services: Services, actor: Actor, options: z.output<z.ZodObject<S>>): Promise<unknown>;
}): Command {
  return {
    ...definition,
    run: (services, actor, values) =>
      definition.run(services, actor, values as z.output<z.ZodObject<S>>),
  };
}

/** A comma-separated list of what `item` reads. */
export function listOf<Item extends z.ZodType<unknown, string>>(item: Item) {
  return z
    .string()
    .transform((value) => value.split(',').map((part) => part.trim()))
    .pipe(z.array(item));
}

/** A whole number that is given as text. */
export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .regex(/^[0-9]{1,6}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
}
