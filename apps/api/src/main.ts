import { ConfigError, createLogger, DatabaseStartupError, environment } from '@relayger/kernel';
import { type ApiConfig, apiConfig } from './config.js';
import { isPortTaken } from './port.js';
import { type RunningApi, startApi } from './start-api.js';

/** A process manager that asked twice, or a person at a keyboard, does not want to wait. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

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
if (config.PORT !== 0 && (await isPortTaken(config.HOST, config.PORT))) {
  refuse(
    `Port ${config.PORT} on ${config.HOST} is taken; stop the other program or set PORT to a free one.`,
  );
}

let api: RunningApi;
try {
  api = await startApi(config, log);
} catch (error) {
  if (error instanceof DatabaseStartupError) refuse(error.message);
  throw error;
}
process.stdout.write(welcome(api.origin));

let stopping = false;
async function stop(code: number): Promise<void> {
  if (stopping) process.exit(code || 130);
  stopping = true;
  await api.close();
  process.exit(code);
}
for (const signal of SIGNALS) process.on(signal, () => void stop(0));
process.on('uncaughtException', (err) => {
  log.fatal({ err }, 'the process cannot go on');
  void stop(1);
});
