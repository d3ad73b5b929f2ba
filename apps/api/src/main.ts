import { ConfigError, createLogger, DatabaseStartupError, environment } from '@relayger/kernel';
import { type ApiConfig, apiConfig } from './config.js';
import { portProblem } from './port.js';
import { startApi } from './start-api.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** A second signal later than this ends the process at once: whoever asks twice does not want to wait. */
const REPEATED_SIGNAL_MS = 1_000;

function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function readConfig(): ApiConfig {
  try {
    return apiConfig(environment());
  } catch (error) {
    if (error instanceof ConfigError)
      refuse(`Relayger cannot start; correct these settings:\n${error.message}`);
    throw error;
  }
}

function welcome(origin: string): string {
  return `
Relayger is running at ${origin}

Register an agent:
  curl -sS ${origin}/v1/register -H 'Content-Type: application/json' -d '{"kind":"agent"}'
Wait for its messages (with the token from the reply):
  curl -sS "${origin}/v1/mailbox?wait=50&consume=1" -H "Authorization: Bearer $TOKEN"

Guide for agents: ${origin}/agents.md   Stop with Ctrl+C
`;
}

const config = readConfig();
const log = createLogger(config.LOG_LEVEL);

// Before the database is touched: this is the usual reason why a second start on one machine fails.
const problem = config.PORT === 0 ? null : await portProblem(config.HOST, config.PORT);
if (problem) refuse(problem);

// From here on something may be running that a signal has to stop, the database's first start included.
const starting = startApi(config, log);
let stoppingSince = 0;
async function stop(code: number): Promise<void> {
  if (stoppingSince > 0) {
    // Ctrl+C reaches a process twice under npm: once from the terminal and once from npm itself.
    if (performance.now() - stoppingSince < REPEATED_SIGNAL_MS) return;
    process.exit(code || 130);
  }
  stoppingSince = performance.now();
  const api = await starting.catch(() => null);
  await api?.close();
  process.exit(code);
}
for (const signal of SIGNALS) process.on(signal, () => void stop(0));
process.on('uncaughtException', (err) => {
  log.fatal({ err }, 'the process cannot go on');
  void stop(1);
});

const api = await starting.catch((error: unknown) => {
  if (error instanceof DatabaseStartupError || error instanceof ConfigError) refuse(error.message);
  throw error;
});
if (stoppingSince === 0) process.stdout.write(welcome(api.origin));
