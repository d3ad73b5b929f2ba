import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createLogger, startEmbeddedPostgres } from '@relayger/kernel';
import { TcpGate } from './tcp-gate.js';

type Running = Awaited<ReturnType<typeof startEmbeddedPostgres>>;

/** A durable PostgreSQL of one test, that the test may stop and start again. */
export class OwnPostgres {
  private constructor(
    private readonly home: string,
    private running: Running,
    private readonly gate: TcpGate,
  ) {}

  static async start(): Promise<OwnPostgres> {
    const home = await mkdtemp(path.join(os.tmpdir(), 'relayger-faults-'));
    const running = await launch(home);
    return new OwnPostgres(home, running, await TcpGate.inFrontOf(running.url));
  }

  /** The same over every restart. */
  get url(): string {
    return this.gate.urlThrough(this.running.url);
  }

  /** Takes it away: as its own `pg_ctl stop -m fast`, or as a crash does, which the next start recovers from. */
  async down(mode: 'fast' | 'immediate'): Promise<void> {
    if (mode === 'immediate') process.kill(await postmasterPid(this.home), 'SIGQUIT');
    await this.running.stop();
    // From here on connections are refused, as they are by the machine when no server listens.
    await this.gate.shut();
  }

  async up(): Promise<void> {
    this.running = await launch(this.home);
    this.gate.target = Number(new URL(this.running.url).port);
    await this.gate.open();
  }

  async end(): Promise<void> {
    await this.gate.shut();
    await this.running.stop();
    await rm(this.home, { recursive: true, force: true });
  }
}

const launch = (home: string) =>
  startEmbeddedPostgres({ dataDir: path.join(home, 'postgres'), log: createLogger('silent') });

/** Process id of the server in `<home>/postgres`. */
export async function postmasterPid(home: string): Promise<number> {
  return Number.parseInt(await readFile(path.join(home, 'postgres/postmaster.pid'), 'utf8'), 10);
}
