import { parseArgs } from 'node:util';

export const HELP = `npm run bench -- [options]

Measures the built api against what this machine can do. About three minutes; leave the machine alone meanwhile.

  --only a,c       only these: a throughput, b latency, c waiters, d fan-out
  --quick          shorter and coarser, about a minute
  --json FILE      also write every figure to FILE
  --profile DIR    let the api write a CPU profile into DIR (slows it; for Chrome's DevTools)
  --help           this text`;

const FULL = {
  a: { rounds: 5, seconds: 4 },
  b: { samples: 600 },
  c: { waiters: 1000, cpuSeconds: 10 },
  d: { messages: 40 },
};
const QUICK = {
  a: { rounds: 3, seconds: 2 },
  b: { samples: 200 },
  c: { waiters: 1000, cpuSeconds: 5 },
  d: { messages: 30 },
};

/** @throws Error with one line for the person at the terminal */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const sizes = values.quick ? QUICK : FULL;
  const chosen = values.only?.split(',').map((name) => name.trim()) ?? Object.keys(sizes);
  const unknown = chosen.filter((name) => !(name in sizes));
  if (unknown.length > 0) throw new Error(`--only takes a, b, c and d, not "${unknown.join(',')}"`);
  return { ...values, chosen: Object.keys(sizes).filter((name) => chosen.includes(name)), sizes };
}
