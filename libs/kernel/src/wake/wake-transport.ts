import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Database } from '../database/database.js';
import { statement } from '../database/sql.js';
import type { Logger } from '../log/logger.js';
import type { WakeHub } from './wake-hub.js';

const CHANNEL = 'relayger_wake';
/** A NOTIFY payload holds less than 8000 bytes; a topic has about 45. */
const MAX_PAYLOAD = 7_900;
/**
 * How long topics gather before one NOTIFY carries them, in ms. A NOTIFY takes a database-wide lock at commit:
 * inside every transaction it cut commits to a quarter (measured), gathered after commit it costs nothing.
 */
const GATHER_MS = 2;
const HEARTBEAT_MS = 5_000;
const RETRY_MS = [100, 250, 500, 1_000, 2_000, 5_000] as const;
/** Topics kept for other processes while the database is away; beyond that they re-check on their own. */
const MAX_PENDING = 10_000;

const notify = statement<{ pg_notify: string }>(
  'wake_notify',
  `SELECT pg_notify('${CHANNEL}', $1)`,
);

/** Carries wakes between processes over LISTEN/NOTIFY, on one connection of its own. */
export class WakeTransport {
  private readonly self = randomUUID().slice(0, 8);
  private pending = new Set<string>();
  private gathering: NodeJS.Timeout | null = null;
  private stopped = false;
  private stopWaiting: () => void = () => {};
  private loop: Promise<void> = Promise.resolve();
  /** False while wakes of other processes may be missed. */
  listening = false;

  constructor(
    private readonly database: Database,
    private readonly hub: WakeHub,
    private readonly log: Logger,
  ) {
    hub.onWake = (topics) => this.publish(topics);
  }

  /** Listens until `stop`; reconnects by itself. Resolves when it listens for the first time. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.loop = this.keepListening(resolve);
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    if (this.gathering) clearTimeout(this.gathering);
    this.gathering = null;
    await this.flush().catch(() => {});
    this.stopWaiting();
    await this.loop;
  }

  private publish(topics: readonly string[]): void {
    if (this.pending.size < MAX_PENDING) for (const topic of topics) this.pending.add(topic);
    if (this.gathering || this.stopped) return;
    this.gathering = setTimeout(() => {
      this.gathering = null;
      this.flush().catch((err: unknown) => {
        this.log.warn({ err }, 'could not tell other processes of news; will try again');
        if (!this.stopped) this.gathering = setTimeout(() => this.retryFlush(), 250);
      });
    }, GATHER_MS);
  }

  private retryFlush(): void {
    this.gathering = null;
    this.publish([]);
  }

  private async flush(): Promise<void> {
    const topics = [...this.pending];
    this.pending.clear();
    for (let start = 0; start < topics.length; ) {
      let payload = this.self;
      let end = start;
      while (
        end < topics.length &&
        payload.length + 1 + (topics[end] as string).length <= MAX_PAYLOAD
      ) {
        payload += ` ${topics[end]}`;
        end++;
      }
      try {
        await this.database.query(notify, [payload]);
      } catch (error) {
        for (const topic of topics.slice(start)) this.pending.add(topic);
        throw error;
      }
      start = end;
    }
  }

  private async keepListening(onFirst: () => void): Promise<void> {
    for (let failures = 0; !this.stopped; ) {
      try {
        await this.listenOnce(() => {
          failures = 0;
          onFirst();
        });
      } catch (err) {
        if (this.stopped) return;
        this.log.warn({ err }, 'the LISTEN connection broke; connecting again');
      }
      this.listening = false;
      if (this.stopped) return;
      await this.pause(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] as number);
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** One connection's life: returns when `stop` is called, throws when the connection breaks. */
  private async listenOnce(onListening: () => void): Promise<void> {
    const client = new pg.Client({
      connectionString: this.database.url,
      connectionTimeoutMillis: 5_000,
      // Also ends the heartbeat of a peer that swallows packets without closing.
      query_timeout: HEARTBEAT_MS,
      keepAlive: true,
      application_name: 'relayger-listen',
    });
    const broken = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('Connection terminated')));
    });
    broken.catch(() => {});
    try {
      await Promise.race([client.connect(), broken]);
      client.on('notification', ({ payload = '' }) => this.receive(payload));
      await client.query(`LISTEN ${CHANNEL}`);
      this.listening = true;
      // Whatever was said while nobody listened is in the database: everyone looks once.
      this.hub.wakeAll();
      onListening();
      while (!this.stopped) {
        await Promise.race([this.pause(HEARTBEAT_MS), broken]);
        if (!this.stopped) await client.query('SELECT 1');
      }
    } finally {
      await Promise.race([
        client.end().catch(() => {}),
        new Promise((resolve) => setTimeout(resolve, 500).unref()),
      ]);
    }
  }

  private receive(payload: string): void {
    const [from, ...topics] = payload.split(' ');
    if (from !== this.self) this.hub.wakeLocal(topics);
  }
}
