import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from './http-connection.mjs';
import { mailboxRequest } from './messages.mjs';
import { cpuPercent, hasProc, memory } from './usage.mjs';

/** So many connections are opened at a time; the listen queue holds 511. */
const AT_ONCE = 100;
const WAIT_SECONDS = 55;

let waiting = [];

export const jobs = {
  /** Opens one long-poll a token. With `renew` the first ones end at different times and each is followed by another. */
  async openWaits({ port, tokens, renew }) {
    for (let start = 0; start < tokens.length; start += AT_ONCE) {
      const group = tokens.slice(start, start + AT_ONCE);
      const opened = await Promise.all(group.map(() => HttpConnection.open(port)));
      opened.forEach((connection, i) => {
        const first = renew ? 1 + ((start + i) % WAIT_SECONDS) : WAIT_SECONDS;
        const waiter = { connection, ended: 0, problem: null };
        waiting.push(waiter);
        void keepWaiting(waiter, group[i], first, renew);
      });
    }
  },

  /** How many waits have ended by themselves; throws when one ended badly. */
  endedWaits() {
    const problem = waiting.find((waiter) => waiter.problem)?.problem;
    if (problem) throw problem;
    return waiting.reduce((sum, { ended }) => sum + ended, 0);
  },

  closeWaits() {
    const old = waiting;
    waiting = [];
    for (const { connection } of old) connection.close();
  },
};

async function keepWaiting(waiter, token, firstWait, renew) {
  try {
    for (let wait = firstWait; ; wait = WAIT_SECONDS) {
      const { status, body } = await waiter.connection.send(mailboxRequest(token, wait));
      if (status !== 200) throw new Error(`the mailbox answered ${status}: ${body}`);
      waiter.ended++;
      if (!renew) return;
    }
  } catch (error) {
    waiter.problem = error;
  }
}

/** (c) What many agents cost that wait and hear nothing. */
export async function measure(stage, { cpuSeconds }, say) {
  if (!hasProc()) {
    say('skipped: needs /proc of Linux');
    return { rows: [], raw: null };
  }
  // A server that has worked hard has a large heap, in which a thousand waiters would find room for nothing.
  await stage.restartProduct();
  const { pid, port } = stage.product;
  const tokens = stage.waiters.map(({ token }) => token);
  const waiters = tokens.length;
  const open = (some, renew) => stage.generate('openWaits', { port, tokens: some, renew });

  // The code has run before the first reading, so that its compilation is not counted as a waiter's memory.
  await open(tokens.slice(0, 50), false);
  await sleep(1000);
  await stage.generate('closeWaits');
  await sleep(1000);
  const empty = await memory(pid);

  await open(tokens, false);
  await sleep(2000);
  const idleCpu = await cpuPercent(pid, cpuSeconds);
  const full = await memory(pid);
  const ended = await stage.generate('endedWaits');
  if (ended > 0) throw new Error(`${ended} waits ended, nobody was to hear anything`);
  await stage.generate('closeWaits');
  const each = (kind) => (full[kind] - empty[kind]) / waiters;
  say(`${empty.collected} KiB PSS without waiters, ${full.collected} KiB with ${waiters}`);
  say(`${each('asItIs').toFixed(1)} KiB a waiter when nothing forces garbage collections`);

  await sleep(1000);
  await open(tokens, true);
  await sleep(2000);
  const before = await stage.generate('endedWaits');
  const renewingCpu = await cpuPercent(pid, cpuSeconds);
  const renewed = ((await stage.generate('endedWaits')) - before) / cpuSeconds;
  await stage.generate('closeWaits');
  say(
    `${renewingCpu.toFixed(1)} % CPU when ${renewed.toFixed(0)} waits a second end and begin anew`,
  );

  return {
    rows: [
      {
        what: `(c) memory of a waiter, of ${waiters} (PSS)`,
        value: `${each('collected').toFixed(1)} KiB`,
        target: '≤ 45 KiB',
        ok: each('collected') <= 45,
      },
      {
        what: `(c) CPU of ${waiters} idle waiters`,
        value: `${idleCpu.toFixed(1)} %`,
        target: '≤ 1 %',
        ok: idleCpu <= 1,
      },
    ],
    raw: { waiters, empty, full, idleCpu, renewingCpu, renewedPerSecond: renewed },
  };
}
