import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { type ApiClient, createApiClient } from '@relayger/kernel/testing';

const ROOT = path.resolve(import.meta.dirname, '../../../../..');
const MAIN = path.join(ROOT, 'apps/api/dist/main.js');

/** Settings under which a test registers and calls as often as it likes. */
const SETTINGS = {
  PORT: '0',
  LOG_LEVEL: 'warn',
  REGISTRATIONS_PER_IP_HOUR: '1000000',
  REGISTRATIONS_PER_DAY: '1000000',
  REQUESTS_PER_MINUTE: '1000000',
};

/** The service in a process of its own, as `npm start` runs it. */
export interface ApiProcess {
  readonly pid: number;
  readonly origin: string;
  readonly api: ApiClient;
  /** Everything it has printed so far. */
  output(): string;
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
  /** Exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
  /** Asks it to stop, and tells how it ended. */
  stop(): Promise<number | string>;
}

const running = new Set<ChildProcess>();

/** Brings the build up to date; one worker at a time, the others then find it done. */
export async function build(): Promise<void> {
  mkdirSync(path.join(ROOT, '.cache'), { recursive: true });
  const lock = new DatabaseSync(path.join(ROOT, '.cache/build.lock'), { timeout: 60_000 });
  lock.exec('BEGIN EXCLUSIVE');
  try {
    await promisify(execFile)(process.execPath, [path.join(ROOT, 'infra/scripts/build.mjs')]);
  } catch (error) {
    throw new Error(`The build failed.\n${(error as { stderr: string }).stderr}`);
  } finally {
    lock.close();
  }
}

/** Starts the program and gathers what it prints. */
function launch(env: Record<string, string>) {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, ['--enable-source-maps', MAIN], {
    env: { PATH, ...SETTINGS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let text = '';
  const gather = (chunk: string) => {
    text += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', gather);
  child.stderr.setEncoding('utf8').on('data', gather);
  const exited = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return (code ?? signal) as number | string;
  });
  return { child, exited, output: () => text };
}

/** Runs a start that is meant to be refused. */
export async function refusedStart(env: Record<string, string>) {
  const started = performance.now();
  const { exited, output } = launch(env);
  const code = await exited;
  return { code, output: output(), ms: performance.now() - started };
}

/** Starts the service and resolves once it says where it listens. */
export async function startApiProcess(env: Record<string, string>): Promise<ApiProcess> {
  const { child, exited, output } = launch(env);
  const origin = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const port = /running at http:\/\/localhost:(\d+)/.exec(output())?.[1];
      if (port) resolve(`http://127.0.0.1:${port}`);
    };
    child.stdout.on('data', look);
    void exited.then((code) => reject(new Error(`The service ended with ${code}:\n${output()}`)));
  });
  const api = createApiClient(origin);
  const signal = (name: 'SIGTERM' | 'SIGKILL') => void child.kill(name);
  return {
    pid: child.pid as number,
    origin,
    api,
    output,
    signal,
    exited,
    async stop() {
      api.close();
      signal('SIGTERM');
      return exited;
    },
  };
}

/** Ends whatever a failed test has left behind. */
export async function endProcesses(): Promise<void> {
  const ends = [...running].map((child) => {
    child.kill('SIGKILL');
    return once(child, 'close');
  });
  await Promise.all(ends);
}
