import os from 'node:os';
import { accountsSettings } from '@relayger/accounts';
import {
  ConfigError,
  createLogger,
  DatabaseStartupError,
  environment,
  isUnavailable,
  kernelSettings,
  loadConfig,
} from '@relayger/kernel';
import { RelaygerError } from '@relayger/protocol';
import type { Invocation } from './arguments.js';
import { openServices } from './open-services.js';

/**
 * Runs a command and prints its result on standard output, or why there is none on standard error.
 * @returns whether it succeeded
 */
export async function runCommand(invocation: Invocation): Promise<boolean> {
  try {
    const result = await execute(invocation);
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    return true;
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`);
    return false;
  }
}

async function execute({ command, reason, options }: Invocation): Promise<unknown> {
  const config = loadConfig({ ...kernelSettings, ...accountsSettings }, environment());
  // Standard output is for the result alone. What a server logs by default is noise around a single command.
  const level = config.LOG_LEVEL === 'info' ? 'error' : config.LOG_LEVEL;
  const { services, close } = await openServices(config, createLogger(level, process.stderr));
  try {
    const actor = { id: null, systemUser: os.userInfo().username, reason };
    return await command.run(services, actor, options);
  } finally {
    await close();
  }
}

/** One line for what an operator can do something about; a bug keeps its stack. */
function describe(error: unknown): string {
  if (error instanceof RelaygerError) {
    const details = error.details ? ` ${JSON.stringify(error.details)}` : '';
    return `${error.code}: ${error.message}${details}`;
  }
  if (error instanceof ConfigError) return `Correct these settings:\n${error.message}`;
  if (error instanceof DatabaseStartupError) return error.message;
  if (isUnavailable(error)) return `The database cannot be used now: ${(error as Error).message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
