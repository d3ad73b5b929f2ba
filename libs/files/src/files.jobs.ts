import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Database, LOGGER, type Logger, Poller, Storage } from '@relayger/kernel';
import { deleteRemovedFile, type RemovedFile, selectRemoved } from './sql/collect-removed.js';
import { expireUpload } from './sql/settle-upload.js';

const LOOK_MS = 60_000;
const BATCH = 20;

/**
 * Takes away what is left of files that are no more. An object is deleted before its row is: whatever dies in
 * between, the row is there for the next look.
 */
@Injectable()
export class FilesSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly poller: Poller;

  constructor(
    private readonly database: Database,
    private readonly storage: Storage,
    @Inject(LOGGER) log: Logger,
  ) {
    this.poller = new Poller(() => this.run(), { name: 'removing files', everyMs: LOOK_MS, log });
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.poller.stop();
  }

  /** There is something to remove. Call it after COMMIT. */
  wake(): void {
    this.poller.wake();
  }

  /** Removes one file whose row says that it is removed. */
  async collect({ id, object_key }: RemovedFile): Promise<void> {
    await this.storage.delete(object_key);
    await deleteRemovedFile(this.database, id);
  }

  private async run(): Promise<boolean> {
    while (await expireUpload(this.database));
    const removed = await selectRemoved(this.database, BATCH);
    const collected = await Promise.allSettled(removed.map((file) => this.collect(file)));
    const failed = collected.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    await this.storage.tidy();
    return removed.length === BATCH;
  }
}
