import { parseArgs } from 'node:util';
import { Reason } from '@relayger/protocol';
import { z } from 'zod';
import type { Command } from './command.js';
import { COMMANDS } from './commands.js';

/** Arguments that the tool cannot use; the message says which and why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface Invocation {
  command: Command;
  reason: string;
  options: unknown;
}

/**
 * Reads the command line.
 * @returns null when help was asked for
 * @throws UsageError
 */
export function readArguments(args: readonly string[]): Invocation | null {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || args.includes('--help')) return null;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`There is no command ${name}.`);
  const shape = { ...command.options, reason: Reason };
  const result = z.strictObject(shape).safeParse(readOptions(rest, Object.keys(shape)));
  if (result.success) {
    const { reason, ...options } = result.data as { reason: string };
    return { command, reason, options };
  }
  const problems = result.error.issues.map(({ path: [option], ...issue }) =>
    issue.code === 'invalid_type' && issue.input === undefined
      ? `--${String(option)} is required.`
      : `--${String(option)}: ${issue.message}.`,
  );
  throw new UsageError(problems.join('\n'));
}

function readOptions(args: readonly string[], names: readonly string[]) {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
