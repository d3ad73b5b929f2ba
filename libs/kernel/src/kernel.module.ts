import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AuditRetention } from './audit/audit.jobs.js';
import { CONFIG, type KernelConfig } from './config/kernel.config.js';
import { Database } from './database/database.js';
import { AuthGuard } from './http/auth.guard.js';
import { ErrorFilter } from './http/error.filter.js';
import { HealthController } from './http/health.controller.js';
import { ServiceAddress } from './http/service-address.js';
import { LOGGER, type Logger } from './log/logger.js';
import { MailDelivery } from './mail/mail.jobs.js';
import { MailOutbox } from './mail/mail-outbox.js';
import { SmtpSender } from './mail/smtp-sender.js';
import { Secrets } from './secrets/secrets.js';
import { Storage } from './storage/storage.js';
import { WakeHub } from './wake/wake-hub.js';
import { WakeTransport } from './wake/wake-transport.js';

/** What exists before the application does: made by its main, shared by every library. */
export interface KernelParts {
  config: KernelConfig;
  log: Logger;
  database: Database;
  hub: WakeHub;
  transport: WakeTransport;
  address: ServiceAddress;
  secrets: Secrets;
  storage: Storage;
}

/** The kernel as a global Nest module, with the guard and the error filter that every route passes. */
@Module({})
export class KernelModule {
  static with(parts: KernelParts): DynamicModule {
    const { config, log, database, hub, transport, address, secrets, storage } = parts;
    return {
      module: KernelModule,
      global: true,
      controllers: [HealthController],
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: LOGGER, useValue: log },
        { provide: Database, useValue: database },
        { provide: WakeHub, useValue: hub },
        { provide: WakeTransport, useValue: transport },
        { provide: ServiceAddress, useValue: address },
        { provide: Secrets, useValue: secrets },
        { provide: Storage, useValue: storage },
        AuditRetention,
        SmtpSender,
        MailDelivery,
        MailOutbox,
        { provide: APP_GUARD, useClass: AuthGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
      ],
      exports: [CONFIG, LOGGER, Database, WakeHub, ServiceAddress, Secrets, Storage, MailOutbox],
    };
  }
}
