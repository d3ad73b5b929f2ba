import { type WorkFigures } from '@relayger/protocol';
import type { AttemptsRow } from './sql/count-attempts.js';
import type { WorkRow } from './sql/count-work.js';

type AttemptFigures = Pick<WorkFigures, 'attempts' | 'usage' | 'processingMs'>;

/** @param row undefined when nothing was claimed */
export function attemptFigures(row: AttemptsRow | undefined): AttemptFigures {
  const { total = 0, handled = 0, skipped = 0, failed = 0, unfinished = 0 } = row ?? {};
  const { modelCalls = 0, inputTokens = 0, outputTokens = 0, unreported = 0 } = row ?? {};
  const { median = null, p95 = null } = row ?? {};
  return {
    attempts: { total, handled, skipped, failed, unfinished },
    usage: {
      modelCalls: Number(modelCalls),
      inputTokens: Number(inputTokens),
      outputTokens: Number(outputTokens),
      unreported,
    },
    processingMs:
      median === null || p95 === null
        ? null
        : { count: total - unfinished, median: Math.round(median), p95: Math.round(p95) },
  };
}

/** The figures of one agent, or of several together: `attempts` are those of the same agents. */
export function workFigures(
  rows: readonly WorkRow[],
  attempts: AttemptsRow | undefined,
): WorkFigures {
  const sum = (field: Exclude<keyof WorkRow, 'agentId' | 'active'>) =>
    rows.reduce((total, row) => total + row[field], 0);
  return {
    openTasks: sum('openTasks'),
    results7d: {
      completed: sum('completed'),
      failed: sum('failed'),
      cancelled: sum('cancelled'),
    },
    messages: sum('messages'),
    ...attemptFigures(attempts),
  };
}
