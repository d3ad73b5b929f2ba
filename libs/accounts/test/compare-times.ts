import { setTimeout } from 'node:timers/promises';
import type { TestApi } from '@relayger/api/testing';
import { from } from './support.js';

const ROUND = 40;
const ROUNDS = 8;

function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[samples.length >> 1] as number;
}

interface Compared {
  path: string;
  headers?: Record<string, string>;
  expect: number;
  /** Bodies of the two kinds. */
  first: () => object;
  second: () => object;
  /** Time between two requests for what they leave to be done, so that most do not meet it. */
  pauseMs?: number;
}

/**
 * How the median times of two kinds of requests compare, each from a client of its own. They take turns, so that
 * whatever else the machine does meets both; a noisy round is followed by another, a real difference stays.
 */
export async function compareTimes(t: TestApi, compared: Compared): Promise<number> {
  const [a, b]: [number[], number[]] = [[], []];
  let clients = 0;
  async function time(body: object): Promise<number> {
    clients++;
    if (compared.pauseMs) await setTimeout(compared.pauseMs);
    const headers = { ...compared.headers, ...from(`10.9.${clients >> 8}.${clients & 255}`) };
    const start = performance.now();
    await t.api.raw('POST', compared.path, { headers, body, expect: compared.expect });
    return performance.now() - start;
  }
  let ratio = Number.NaN;
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < ROUND; i++) {
      // In turn the first of the two, so that neither always comes right after the other.
      const order = i % 2 === 0 ? [0, 1] : [1, 0];
      for (const kind of order) {
        if (kind === 0) a.push(await time(compared.first()));
        else b.push(await time(compared.second()));
      }
    }
    ratio = median(a) / median(b);
    if (ratio > 0.9 && ratio < 1.1) break;
  }
  return ratio;
}
