import { Injectable } from '@nestjs/common';
import { mayAnswerRequests } from '@relayger/contacts';
import { Batcher, Database, isRetryable, isUnavailable, type Principal } from '@relayger/kernel';
import { toMessage } from '@relayger/messages';
import { fail, type RuntimeDelivery } from '@relayger/protocol';
import { requireAgent } from './agent-only.js';
import { type ClaimAsk, type ClaimRow, takeJobs } from './sql/claim-jobs.js';
import { lockRuntime } from './sql/lock-runtime.js';
import { scanForWork } from './sql/scan-rooms.js';
import { settleOverdue } from './sql/settle-jobs.js';

export interface Claimed {
  delivery: RuntimeDelivery | null;
  /** Incoming contact requests, 0-100; 0 for a token that may not answer them. */
  contactRequests: number;
}

/** What one of the calls that share a statement is told. */
type Answer = ClaimRow | 'unknown';

/** How long one claim goes on looking through messages of which none is work; the next one goes on from there. In ms. */
const LOOKING_MS = 1_000;
/** Claims of one process follow each other; so often in a row a claim of another process may come between. */
const OPTIMISTIC = 2;

/** Gives jobs to workers. */
@Injectable()
export class ClaimsService {
  /** One a runtime that is claimed from at this moment. */
  private readonly queues = new Map<
    string,
    { batcher: Batcher<Principal, Answer>; calls: number }
  >();
  private readonly scans = new Map<string, Promise<void>>();

  constructor(private readonly database: Database) {}

  /**
   * The next job of a runtime under a lease, or null when none is due or may be given out now.
   * @throws RelaygerError `agent_only`, `not_found`
   */
  async claim(caller: Principal, runtimeId: string): Promise<Claimed> {
    requireAgent(caller);
    const until = performance.now() + LOOKING_MS;
    for (;;) {
      const row = await this.take(caller, runtimeId);
      if (row === 'unknown') fail('not_found');
      const isLast = row.delivery_id !== null || !row.news || performance.now() >= until;
      if (isLast) {
        return {
          delivery: toDelivery(runtimeId, row),
          contactRequests: mayAnswerRequests(caller) ? row.contact_requests : 0,
        };
      }
      await this.scan(caller, runtimeId);
    }
  }

  /**
   * Calls that arrive together share a statement and a commit. Each runtime has a queue of its own: one whose row is
   * locked must not hold up the others.
   */
  private async take(caller: Principal, runtimeId: string): Promise<Answer> {
    let queue = this.queues.get(runtimeId);
    if (!queue) {
      const batcher = new Batcher<Principal, Answer>({
        run: (callers) => this.takeTogether(runtimeId, callers),
        maxItems: 64,
        maxRuns: 1,
        isolate: (error) => !isUnavailable(error),
      });
      queue = { batcher, calls: 0 };
      this.queues.set(runtimeId, queue);
    }
    queue.calls++;
    try {
      return await queue.batcher.do(caller);
    } finally {
      if (--queue.calls === 0) this.queues.delete(runtimeId);
    }
  }

  /** One statement for all whose tokens reach the same rooms, which is nearly always all. */
  private async takeTogether(runtimeId: string, callers: Principal[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    const groups = Map.groupBy(callers.keys(), (at) => {
      const { identityId, roomIds } = callers[at] as Principal;
      return JSON.stringify([identityId, roomIds]);
    });
    for (const members of groups.values()) {
      const { identityId, roomIds } = callers[members[0] as number] as Principal;
      const rows = await this.takeFresh({ runtimeId, identityId, roomIds, wanted: members.length });
      // Whoever gets no job gets what the statement said of the rest: any row says it.
      for (const [nth, at] of members.entries())
        answers[at] = rows[nth] ?? withoutJob(rows[0]) ?? 'unknown';
    }
    return answers;
  }

  private async takeFresh(ask: ClaimAsk): Promise<ClaimRow[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        const rows =
          attempt <= OPTIMISTIC
            ? await takeJobs(this.database, ask)
            : // Under the lock nobody can come between.
              await this.database.transaction(async (sql) => {
                await lockRuntime(sql, ask.runtimeId, ask.identityId);
                return takeJobs(sql, ask);
              });
        if (!rows[0]?.stale) return rows;
      } catch (error) {
        if (!isRetryable(error) || attempt > OPTIMISTIC + 1) throw error;
      }
    }
  }

  /** Looks for new work, once for all who wait for it. */
  private scan({ identityId, roomIds }: Principal, runtimeId: string): Promise<void> {
    const key = JSON.stringify([runtimeId, roomIds]);
    const running = this.scans.get(key);
    if (running) return running;
    const scan = this.database
      .transaction(async (sql) => {
        await lockRuntime(sql, runtimeId, identityId);
        // Nothing can be taken, so what is open now and due is in the way of every claim for nothing.
        await settleOverdue(sql, runtimeId);
        await scanForWork(sql, runtimeId, identityId, roomIds);
      })
      .finally(() => this.scans.delete(key));
    this.scans.set(key, scan);
    return scan;
  }
}

function withoutJob(row: ClaimRow | undefined): ClaimRow | undefined {
  return row && ({ ...row, delivery_id: null } as ClaimRow);
}

function toDelivery(runtimeId: string, row: ClaimRow): RuntimeDelivery | null {
  if (row.delivery_id === null) return null;
  return {
    id: row.delivery_id,
    messageId: row.id,
    message: toMessage(row),
    owner: row.owner,
    version: row.version,
    leaseUntil: row.lease_until.toISOString(),
    attempts: row.attempts,
    jobKey: `${runtimeId}:${row.id}`,
  };
}
