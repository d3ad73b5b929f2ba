import { spawn } from 'node:child_process';
import path from 'node:path';

/** Ends the script with one line for the person at the terminal. */
export function stopWith(message) {
  console.error(message);
  process.exit(1);
}

const STYLES = { dim: 2, red: 31, green: 32 };

/** By hand, because util.styleText is missing in the Nodes that `require-node.mjs` has to turn away. */
export const paint = (style, text) =>
  process.stdout.isTTY ? `\x1b[${STYLES[style]}m${text}\x1b[0m` : text;

/** Announces something that takes a while, and says afterwards how long it took. */
export async function step(title, work) {
  const started = performance.now();
  console.log(`${title} …`);
  const result = await work();
  console.log(paint('dim', `${title.replace(/ \(.*/, '')}: ${seconds(started)}`));
  return result;
}

/** Seconds since `started`, for people. */
export const seconds = (started) => `${((performance.now() - started) / 1000).toFixed(1)} s`;

/** Runs a command with the workspace's own tools first on the PATH, and collects what it prints. */
export function run([program, ...args], env = {}) {
  const bin = path.resolve('node_modules/.bin');
  const PATH = `${bin}${path.delimiter}${process.env.PATH}`;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: { ...process.env, PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        output += chunk;
      });
    }
    child.once('error', (error) => resolve({ code: 1, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
