import { Inject, Injectable } from '@nestjs/common';
import { Batcher, Database, isRetryable, LOGGER, type Logger } from '@relayger/kernel';
import type { PresenceState } from '@relayger/protocol';
import { lapsePresences, prolongPresences } from './sql/prolong-presences.js';
import { type PresenceReport, reportPresences } from './sql/report-presences.js';

/**
 * What identities say of themselves. It grants nothing and is nobody's proof of being there: a report counts for ten
 * minutes, sockets prolong it, and it runs out seconds after the last of them.
 */
@Injectable()
export class PresenceService {
  private readonly reports: Batcher<PresenceReport, undefined>;

  constructor(
    private readonly database: Database,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    // Whoever reports in a loop costs one row of one statement at a time.
    this.reports = new Batcher({
      run: async (reports) => {
        const last = new Map(reports.map((report) => [report.identityId, report]));
        await this.again(() => reportPresences(this.database, [...last.values()]));
        return reports.map(() => undefined);
      },
      maxItems: 1024,
      maxRuns: 1,
    });
  }

  /** The last of several reports of an identity that come together counts. One that cannot be stored is lost. */
  async report(identityId: string, state: PresenceState): Promise<void> {
    try {
      await this.reports.do({ identityId, state });
    } catch (err) {
      this.log.warn({ err }, 'could not store what an identity reports of itself');
    }
  }

  /** Sockets of these identities are open. */
  prolong(identityIds: readonly string[]): Promise<void> {
    return this.again(() => prolongPresences(this.database, identityIds));
  }

  /** These identities have closed their last socket here; another one, also elsewhere, prolongs the report again. */
  lapse(identityIds: readonly string[]): Promise<void> {
    return this.again(() => lapsePresences(this.database, identityIds));
  }

  private async again(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      await write();
    }
  }
}
