import 'reflect-metadata';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { NestFactory } from '@nestjs/core';
import {
  createHttpAdapter,
  Database,
  type Logger,
  loadSecretKey,
  migrate,
  NestLog,
  openStorage,
  Secrets,
  ServiceAddress,
  startEmbeddedPostgres,
  WakeHub,
  WakeTransport,
} from '@relayger/kernel';
import { AppModule } from './app.module.js';
import type { ApiConfig } from './config.js';

const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
/** Requests get this long to finish when the process stops, in ms; then their connections are cut. */
const DRAIN_MS = 8_000;

export interface RunningApi {
  /** What clients are told; behind a proxy not the address of this process. */
  readonly origin: string;
  /** Where this process listens. */
  readonly port: number;
  /** Ends waits with an empty answer, finishes requests, then stops the database. Safe to call twice. */
  close(): Promise<void>;
}

/** Undoes what was started, last first, and goes on when a step fails. */
class Cleanup {
  private readonly steps: (() => Promise<unknown> | unknown)[] = [];
  private done: Promise<void> | null = null;

  constructor(private readonly log: Logger) {}

  add(step: () => Promise<unknown> | unknown): void {
    this.steps.push(step);
  }

  run(): Promise<void> {
    this.done ??= (async () => {
      for (const step of this.steps.reverse()) {
        try {
          await step();
        } catch (err) {
          this.log.error({ err }, 'a part did not stop cleanly');
        }
      }
    })();
    return this.done;
  }
}

/**
 * The whole service in this process: database (an embedded one without DATABASE_URL), migrations, wake-ups, HTTP.
 * @throws DatabaseStartupError, ConfigError and listen errors, after everything that had been started was stopped again
 */
export async function startApi(config: ApiConfig, log: Logger): Promise<RunningApi> {
  const cleanup = new Cleanup(log);
  try {
    let url = config.DATABASE_URL;
    if (!url) {
      const embedded = await startEmbeddedPostgres({
        dataDir: path.join(config.DATA_DIR, 'postgres'),
        log,
      });
      cleanup.add(() => embedded.stop());
      url = embedded.url;
    }
    await migrate(url, MIGRATIONS, log);
    const secrets = new Secrets(await loadSecretKey(config));

    const database = new Database({ url, pool: config.DATABASE_POOL, log });
    cleanup.add(() => database.close());
    const hub = new WakeHub();
    const transport = new WakeTransport(database, hub, log);
    await transport.start();
    cleanup.add(() => transport.stop());

    const storage = await openStorage(config);
    cleanup.add(() => storage.close());

    const address = new ServiceAddress(config);
    const adapter = createHttpAdapter({ address, log, isStopping: () => hub.isClosed });
    const app = await NestFactory.create(
      AppModule.with({ config, log, database, hub, transport, address, secrets, storage }),
      adapter,
      { bodyParser: false, logger: new NestLog(log) },
    );
    const server = app.getHttpServer();
    cleanup.add(async () => {
      hub.close();
      const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await app.close();
      clearTimeout(cut);
    });
    await app.listen(config.PORT, config.HOST);
    const bound = server.address();
    const port = bound && typeof bound === 'object' ? bound.port : config.PORT;
    address.listeningOn(port);
    return { origin: address.origin, port, close: () => cleanup.run() };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}
