import { parseArgs } from 'node:util';

export const HELP = `npm run bench -- [options]

Measures the built api against what this machine can do. About seven minutes; leave the machine alone meanwhile.

  --only a,c       only these: a throughput, b latency, c waiters, d fan-out, e mailboxes of many rooms,
                   f history and search among a million messages, g WebSockets (and h), i files, j workers
  --quick          shorter and coarser, about three minutes; f among 200,000 messages
  --json FILE      also write every figure to FILE
  --profile DIR    let the api write a CPU profile into DIR (slows it; for Chrome's DevTools)
  --help           this text`;

const FULL = {
  a: { rounds: 5, seconds: 4 },
  b: { samples: 600 },
  c: { waiters: 1000, cpuSeconds: 10 },
  d: { messages: 40 },
  e: { rounds: 300 },
  f: { messages: 1_000_000, samples: 200 },
  g: { sockets: 2000, members: 500, messages: 20, cpuSeconds: 10 },
  i: { bytes: 16 * 1024 * 1024, times: 5 },
  j: { total: 2000, workers: 16, rounds: 3 },
};
const QUICK = {
  a: { rounds: 3, seconds: 2 },
  b: { samples: 200 },
  c: { waiters: 1000, cpuSeconds: 5 },
  d: { messages: 30 },
  e: { rounds: 100 },
  f: { messages: 200_000, samples: 60 },
  g: { sockets: 2000, members: 500, messages: 10, cpuSeconds: 5 },
  i: { bytes: 16 * 1024 * 1024, times: 3 },
  j: { total: 1000, workers: 16, rounds: 1 },
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
  if (unknown.length > 0)
    throw new Error(`--only takes a to g, i and j, not "${unknown.join(',')}"`);
  return { ...values, chosen: Object.keys(sizes).filter((name) => chosen.includes(name)), sizes };
}
