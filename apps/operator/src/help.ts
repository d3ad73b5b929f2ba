import type { z } from 'zod';
import type { Command } from './command.js';
import { COMMANDS } from './commands.js';

const HEAD = `Manages this Relayger server at its database: DATABASE_URL, or the one in DATA_DIR (./data), whether
the server runs or not. Prints JSON. Every command needs --reason; it is kept in the audit log.

  npm run -s operator -- COMMAND --reason WHY …

Commands:
`;

function optionLine([name, schema]: [string, z.core.$ZodType]): string {
  const { description = '' } = schema as z.ZodType;
  return `    --${name.padEnd(10)} ${description}`;
}

function commandText(name: string, { summary, options }: Command): string {
  const lines = Object.entries(options).map(optionLine);
  return [`  ${name}`, `    ${summary}`, ...lines].join('\n');
}

/** Everything that the tool can do. */
export function helpText(): string {
  const commands = Object.entries(COMMANDS).map(([name, command]) => commandText(name, command));
  return `${HEAD}\n${commands.join('\n\n')}\n`;
}
