import 'reflect-metadata';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccountsModule } from '@relayger/accounts';
import { IdentitiesModule, IdentitiesService } from '@relayger/identities';
import {
  Database,
  joinEmbeddedPostgres,
  KernelModule,
  type KernelParts,
  type Logger,
  migrate,
  NestLog,
  openStorage,
  Secrets,
  ServiceAddress,
  WakeHub,
  WakeTransport,
} from '@relayger/kernel';
import {
  AdminsService,
  AuditService,
  EmailsService,
  OperatorModule,
  OperatorTokensService,
  UsersService,
} from '@relayger/operator';
import type { Services } from './services.js';

const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
/** One command at a time needs no more. */
const POOL = 2;

/** The part of the service that the commands need, without HTTP. */
@Module({ imports: [AccountsModule, IdentitiesModule, OperatorModule] })
class OperatorToolModule {
  static with(parts: KernelParts): DynamicModule {
    return { module: OperatorToolModule, imports: [KernelModule.with(parts)] };
  }
}

/**
 * Opens the services on the database that the settings name; the migrations are applied, so that an administrator
 * can be there before the server first starts.
 * @throws DatabaseStartupError
 */
export async function openServices(
  config: KernelParts['config'],
  log: Logger,
): Promise<{ services: Services; close(): Promise<void> }> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of closing.reverse()) await step();
  };
  try {
    let url = config.DATABASE_URL;
    if (!url) {
      const dataDir = path.join(config.DATA_DIR, 'postgres');
      const embedded = await joinEmbeddedPostgres({ dataDir, log });
      closing.push(() => embedded.stop());
      url = embedded.url;
    }
    await migrate(url, MIGRATIONS, log);
    const database = new Database({ url, pool: POOL, log });
    closing.push(() => database.close());
    const hub = new WakeHub();
    const transport = new WakeTransport(database, hub, log);
    // It listens to nobody, but the servers hear at once what a command has ended.
    closing.push(() => transport.stop());
    const parts = {
      // No mail leaves from here, so no key is needed either.
      config: { ...config, SMTP_URL: undefined },
      log,
      database,
      hub,
      transport,
      address: new ServiceAddress(config),
      storage: await openStorage(config),
      secrets: new Secrets(null),
    };
    const app = await NestFactory.createApplicationContext(OperatorToolModule.with(parts), {
      logger: new NestLog(log),
      abortOnError: false,
    });
    closing.push(() => app.close());
    const services = {
      admins: app.get(AdminsService, { strict: false }),
      audit: app.get(AuditService, { strict: false }),
      emails: app.get(EmailsService, { strict: false }),
      identities: app.get(IdentitiesService, { strict: false }),
      tokens: app.get(OperatorTokensService, { strict: false }),
      users: app.get(UsersService, { strict: false }),
    };
    return { services, close };
  } catch (error) {
    await close();
    throw error;
  }
}
