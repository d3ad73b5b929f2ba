import { readFileSync } from 'node:fs';
import os from 'node:os';

/** The table, as lines. */
export function table(rows) {
  const lines = [
    ['', 'value', 'target', ''],
    ...rows.map(({ what, value, target, ok }) => [what, value, target, ok ? 'ok' : 'not reached']),
  ];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
}

/** What the figures were measured on. */
export function machine() {
  const [cpu] = os.cpus();
  const name = cpu?.model.trim() || 'unknown processor';
  return `${os.cpus().length} × ${name}, ${process.platform}, Node ${process.versions.node}`;
}

/** Other work on the machine, in running processes, or undefined where the system does not tell. */
export function load() {
  try {
    return Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]);
  } catch {
    return undefined;
  }
}
