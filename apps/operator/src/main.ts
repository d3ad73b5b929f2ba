import { type Invocation, readArguments, UsageError } from './arguments.js';
import { helpText } from './help.js';

/** Something was refused or failed. */
const FAILED = 1;
/** The command line cannot be used. */
const USAGE = 2;

function read(): Invocation | null {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\nnpm run -s operator -- help shows the commands.\n`);
    process.exit(USAGE);
  }
}

const invocation = read();
if (!invocation) process.stdout.write(helpText());
else {
  // Only now: loading the service takes longer than everything above.
  const { runCommand } = await import('./run-command.js');
  if (!(await runCommand(invocation))) process.exitCode = FAILED;
}
