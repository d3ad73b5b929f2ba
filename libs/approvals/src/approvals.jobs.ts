import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Database, LOGGER, type Logger, Poller } from '@relayger/kernel';
import { expireApprovals } from './sql/end-approvals.js';

/** Nobody waits for it: an approval that has run out reads as expired at once. */
const LOOK_MS = 60_000;

/** Writes down which approvals have expired. Any number of processes may do so at the same time. */
@Injectable()
export class ApprovalsSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly poller: Poller;

  constructor(database: Database, @Inject(LOGGER) log: Logger) {
    const options = { name: 'expiring approvals', everyMs: LOOK_MS, log };
    this.poller = new Poller(() => expireApprovals(database), options);
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.poller.stop();
  }
}
