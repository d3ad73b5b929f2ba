import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
const script = (name) => path.join(import.meta.dirname, name);

/** The product reads its settings from here and nowhere else: the machine's own variables must not change a figure. */
const PRODUCT_ENV = {
  PORT: '0',
  REQUESTS_PER_MINUTE: '1000000',
  REGISTRATIONS_PER_IP_HOUR: '1000000',
  REGISTRATIONS_PER_DAY: '1000000',
};
const READY = /running at http:\/\/\S+?:(\d+)/;
const PATIENCE_MS = 30_000;

/** The api as it is built, with its default settings but for the limits on how often one may ask. */
export async function startProduct({ databaseUrl, dataDir, profile }) {
  const flags = ['--expose-gc', '--import', script('gc-on-signal.mjs')];
  if (profile) flags.push('--cpu-prof', '--cpu-prof-dir', path.resolve(profile));
  const child = spawn(process.execPath, [...flags, path.join(root, 'apps/api/dist/main.js')], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...PRODUCT_ENV,
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const port = await new Promise((resolve, reject) => {
    const onEnd = () => reject(new Error(`the api did not start: ${output}`));
    const timer = setTimeout(onEnd, PATIENCE_MS);
    child.once('exit', onEnd);
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      // Only the end: a server in trouble may log a lot.
      output = (output + chunk).slice(-10_000);
      const ready = READY.exec(output);
      if (!ready) return;
      clearTimeout(timer);
      child.off('exit', onEnd);
      resolve(Number(ready[1]));
    });
  }).catch((error) => {
    child.kill('SIGKILL');
    throw error;
  });
  return { pid: child.pid, port, stop: () => stop(child, 'SIGTERM') };
}

/** The bare server, on a database of its own or without any. */
export async function startBare(databaseUrl) {
  const child = fork(script('bare-server.mjs'), {
    env: databaseUrl ? { DATABASE_URL: databaseUrl } : {},
  });
  const [{ port }] = await once(child, 'message');
  return { pid: child.pid, port, stop: () => stop(child, 'SIGTERM') };
}

/** The load generator; `generate` runs one of its jobs, and there is never more than one. */
export function startGenerator() {
  const child = fork(script('generator.mjs'));
  let waiting;
  child.on('message', ({ result, error }) => {
    if (error) waiting.reject(new Error(`in the load generator: ${error}`));
    else waiting.resolve(result);
  });
  child.on('exit', (code) => waiting?.reject(new Error(`the load generator ended: ${code}`)));
  const generate = (job, args) => {
    waiting = Promise.withResolvers();
    child.send({ job, args });
    return waiting.promise;
  };
  return { generate, stop: () => stop(child, 'SIGTERM') };
}

async function stop(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await ended;
  clearTimeout(timer);
}
