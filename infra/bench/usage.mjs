import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** utime and stime count in these; every Linux that Node supports has 100 a second. */
const TICKS_PER_SECOND = 100;
/** V8 gives memory back to the system some moments after a collection. */
const SETTLE_MS = 3_000;

/** Proportional set size: what the process alone uses, and its share of what it shares. In KiB. */
function pss(pid) {
  const [, kib] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  return Number(kib);
}

/** PSS as it is, and again after garbage collections (see gc-on-signal.mjs). */
export async function memory(pid) {
  const asItIs = pss(pid);
  for (let round = 0; round < 2; round++) {
    process.kill(pid, 'SIGUSR2');
    await sleep(SETTLE_MS);
  }
  return { asItIs, collected: pss(pid) };
}

/** By how much the resident set of a process grew at most while something was done, in KiB. */
export async function peakSince(pid, work) {
  const status = (field) =>
    Number(
      new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(
        readFileSync(`/proc/${pid}/status`, 'utf8'),
      )[1],
    );
  // Sets the high-water mark back to what is resident now (proc_pid_clear_refs(5)).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = status('VmRSS');
  await work();
  return status('VmHWM') - before;
}

/** Parent and CPU seconds of a process; nothing of one that has ended. */
function stat(pid) {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Behind the name, which may contain anything: state is field 3, parent 4, utime 14, stime 15.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { parent: Number(fields[1]), cpu: ticks / TICKS_PER_SECOND };
  } catch {
    return { parent: 0, cpu: 0 };
  }
}

export const hasProc = () => existsSync('/proc/self/smaps_rollup');
export const cpuSeconds = (pid) => stat(pid).cpu;
export const parentOf = (pid) => stat(pid).parent;

/** CPU seconds of a process and of its children that live, by process. */
export function familyCpu(pid) {
  const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const family = numbers.map((name) => [name, stat(name)]);
  return new Map(
    family
      .filter(([name, { parent }]) => Number(name) === pid || parent === pid)
      .map(([name, { cpu }]) => [name, cpu]),
  );
}

/** What a family has used since an earlier reading. */
export const cpuSince = (before, now) =>
  [...now].reduce((sum, [pid, cpu]) => sum + cpu - (before.get(pid) ?? 0), 0);

/** CPU time of a process over some seconds, in percent of one core. */
export async function cpuPercent(pid, seconds) {
  const before = { cpu: cpuSeconds(pid), at: performance.now() };
  await sleep(seconds * 1000);
  const elapsed = (performance.now() - before.at) / 1000;
  return ((cpuSeconds(pid) - before.cpu) / elapsed) * 100;
}
