import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Database, LOGGER, type Logger, Poller } from '@relayger/kernel';
import { failDueTasks } from './sql/fail-due.js';
import { TaskHooks } from './task-hooks.js';
import { toRecord } from './task-record.js';

/** A task that cannot be claimed any more says so at once; that it has failed may take this long, in ms. */
const LOOK_MS = 2_000;

/** Ends tasks that nobody can claim any more. Any number of processes may do so at the same time. */
@Injectable()
export class TasksSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly poller: Poller;

  constructor(
    private readonly database: Database,
    private readonly hooks: TaskHooks,
    @Inject(LOGGER) log: Logger,
  ) {
    const options = { name: 'ending overdue tasks', everyMs: LOOK_MS, log };
    this.poller = new Poller(() => this.sweep(), options);
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.poller.stop();
  }

  /** @returns true when there may be more */
  private sweep(): Promise<boolean> {
    return this.database.transaction(async (sql) => {
      const { failed, more } = await failDueTasks(sql);
      for (const row of failed) await this.hooks.finished(sql, toRecord(row));
      return more;
    });
  }
}
