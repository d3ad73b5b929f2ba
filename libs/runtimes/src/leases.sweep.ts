import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Database, LOGGER, type Logger, Poller } from '@relayger/kernel';
import { endPassedLeases } from './sql/settle-jobs.js';

/** A claim takes a lease that has ended by itself, and the log says what it is: nothing waits for this. */
const SWEEP_MS = 15_000;

/** Turns leases that have ended into waiting jobs or dead letters, also where nobody claims any more. */
@Injectable()
export class LeasesSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly poller: Poller;

  constructor(
    private readonly database: Database,
    @Inject(LOGGER) log: Logger,
  ) {
    this.poller = new Poller(() => this.sweep(), {
      name: 'ending leases of runtimes',
      everyMs: SWEEP_MS,
      log,
    });
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.poller.stop();
  }

  /** Any number of processes may do so at the same time. @returns whether there may be more */
  async sweep(): Promise<boolean> {
    return (await endPassedLeases(this.database)) > 0;
  }
}
