import { z } from 'zod';

/** Thrown when the environment cannot be used; lists every problem, one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** A comma-separated list; empty items are dropped. */
export function csv() {
  return z.string().transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
}

/** An integer setting with its bounds. */
export function int(min: number, max: number) {
  return z
    .string()
    .regex(/^[0-9]+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
}

/** A switch: true or false. */
export const bool = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true');

/** What must hold between settings; answers one line that says what to do, or null. */
export type ConfigRule<Config> = (config: Config) => string | null;

/**
 * Reads the settings of several libraries at once. An empty variable counts as absent.
 * @param rules are asked once every setting can be read
 * @throws ConfigError naming every bad variable
 */
export function loadConfig<S extends z.ZodRawShape>(
  shape: S,
  env: Readonly<Record<string, string | undefined>>,
  rules: readonly ConfigRule<z.infer<z.ZodObject<S>>>[] = [],
): z.infer<z.ZodObject<S>> {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = z.object(shape).safeParse(present);
  const lines = result.success
    ? rules.map((rule) => rule(result.data)).filter((line) => line !== null)
    : result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  if (!result.success || lines.length > 0) throw new ConfigError(lines.join('\n'));
  return result.data;
}

/** The process environment: the only place in the libraries that reads it. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
