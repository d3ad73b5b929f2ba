import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { CONFIG, type KernelConfig } from '../config/kernel.config.js';
import { Database } from '../database/database.js';
import { Poller } from '../jobs/poller.js';
import { LOGGER, type Logger } from '../log/logger.js';
import { deleteOldAudit } from './sql/delete-audit.js';

const SWEEP_MS = 3_600_000;

/** Deletes audit records that are older than AUDIT_RETENTION_DAYS. */
@Injectable()
export class AuditRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly poller: Poller;

  constructor(
    database: Database,
    @Inject(CONFIG) { AUDIT_RETENTION_DAYS }: KernelConfig,
    @Inject(LOGGER) log: Logger,
  ) {
    this.poller = new Poller(() => deleteOldAudit(database, AUDIT_RETENTION_DAYS), {
      name: 'deleting old audit records',
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
}
