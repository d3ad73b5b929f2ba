import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Database, LOGGER, type Logger } from '@relayger/kernel';
import { deleteOldCodeRequests } from './sql/delete-code-requests.js';
import { deleteEndedCounters } from './sql/delete-counters.js';
import { deleteExpiredEmailCodes } from './sql/delete-email-codes.js';
import { deleteEndedTokens } from './sql/delete-ended-tokens.js';
import { deleteExpiredWebSessions } from './sql/delete-web-sessions.js';

/**
 * The longest window is a day, so with an hourly sweep no digest of a client's address is older than 25 hours;
 * the contract allows two days.
 */
const SWEEP_MS = 3_600_000;

/** Deletes what has run out. Any number of processes may do so at the same time. */
@Injectable()
export class AccountsSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.running = this.sweep();
    }, SWEEP_MS);
    this.running = this.sweep();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  async sweep(): Promise<void> {
    try {
      const counters = await deleteEndedCounters(this.database);
      const webSessions = await deleteExpiredWebSessions(this.database);
      const emailCodes = await deleteExpiredEmailCodes(this.database);
      const codeRequests = await deleteOldCodeRequests(this.database);
      const tokens = await deleteEndedTokens(this.database);
      this.log.debug(
        { counters, webSessions, emailCodes, codeRequests, tokens },
        'deleted what has run out',
      );
    } catch (err) {
      // The next sweep deletes what this one has not.
      this.log.warn({ err }, 'could not delete what has run out');
    }
  }
}
