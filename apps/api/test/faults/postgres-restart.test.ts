import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../../../../libs/sockets/test/support.js';
import { type ApiProcess, build, endProcesses, startApiProcess } from './support/api-process.js';
import {
  type Account,
  expectNothingLost,
  historyOf,
  Load,
  openGroup,
  register,
  text,
} from './support/load.js';
import { OwnPostgres } from './support/own-postgres.js';

const SENDERS = 6;
const POLLERS = 24;

let postgres: OwnPostgres;
let service: ApiProcess;
let accounts: [Account, ...Account[]];

beforeAll(async () => {
  await build();
  postgres = await OwnPostgres.start();
  service = await startApiProcess({ DATABASE_URL: postgres.url });
  accounts = (await Promise.all(
    Array.from({ length: 1 + SENDERS + POLLERS }, () => register(service.api)),
  )) as typeof accounts;
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await endProcesses();
  await postgres?.end();
});

/** Long-polls that go on whatever happens. */
class Polls {
  readonly statuses = new Set<number>();
  readonly wrong: string[] = [];
  /** Texts received, by poller. */
  readonly received: Set<string>[] = [];
  private stopped = false;
  private readonly workers: Promise<void>[];

  constructor(pollers: Account[]) {
    this.workers = pollers.map((poller, n) => this.work(poller, n));
  }

  private async work({ token }: Account, n: number): Promise<void> {
    const received = new Set<string>();
    this.received[n] = received;
    while (!this.stopped) {
      try {
        const reply = await service.api.raw('GET', '/v1/mailbox?wait=20&consume=1', { token });
        this.statuses.add(reply.status);
        if (reply.status === 200) {
          for (const { body } of reply.body as { body: { text: string } }[])
            received.add(body.text);
        } else if (reply.status !== 503 || !reply.headers['retry-after']) {
          this.wrong.push(reply.text);
        } else await sleep(100);
      } catch (error) {
        this.wrong.push(String(error));
        return;
      }
    }
  }

  /** Resolves with the time it took until every poller had this text. */
  async all(value: string): Promise<number> {
    const started = performance.now();
    while (!this.received.every((texts) => texts.has(value))) {
      if (performance.now() - started > 15_000) throw new Error(`not everybody got ${value}`);
      await sleep(5);
    }
    return performance.now() - started;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.workers);
  }
}

test.each(['fast', 'immediate'] as const)(
  'PostgreSQL restarts (%s) under load: same process, 503 in the gap, then all goes on by itself',
  async (mode) => {
    const [speaker, ...others] = accounts;
    const senders = others.slice(0, SENDERS);
    const pollers = others.slice(SENDERS);
    const busy = await openGroup(service.api, ...senders, speaker);
    const quiet = await openGroup(service.api, speaker, ...pollers);
    const say = async (value: string) => {
      const options = { token: speaker.token, params: { room: quiet }, body: text(value) };
      await service.api.call('sendMessage', { ...options, expect: 201 });
    };
    const polls = new Polls(pollers);
    const load = new Load(() => service.api, busy, senders);
    await load.more(50);
    const socket = await listen(service, pollers[0] as Account, quiet);
    await say('before');
    await socket.until(1);

    await postgres.down(mode);
    const gone = await service.api.raw('GET', '/v1/me', { token: speaker.token, expect: 503 });
    expect(gone.headers['retry-after']).toBe('2');
    expect(gone.body).toMatchObject({ error: { code: 'unavailable' } });
    const { body } = await service.api.raw('GET', '/readyz', { expect: 503 });
    expect(body).toEqual({ ready: false, database: 'down', listening: false });
    await service.api.call('getHealth', { expect: 200 });
    await sleep(500);

    await postgres.up();
    const accepting = performance.now();
    await load.more(1);
    expect(performance.now() - accepting).toBeLessThan(15_000);
    await load.more(50);
    while ((await service.api.raw('GET', '/readyz')).status !== 200) await sleep(20);
    expect(performance.now() - accepting).toBeLessThan(15_000);
    await say('after');
    expect(await polls.all('after')).toBeLessThan(2_000);
    // The socket outlived it.
    await socket.until(2);
    expect(socket.messages.map(({ payload }) => payload)).toEqual([
      { text: 'before' },
      { text: 'after' },
    ]);
    await socket.close();

    await load.stop();
    const stopped = polls.stop();
    await say('farewell');
    await stopped;
    expect(polls.wrong).toEqual([]);
    for (const status of polls.statuses) expect([200, 503]).toContain(status);
    for (const status of load.statuses.keys()) expect([200, 201, 503]).toContain(status);
    expect(load.statuses.has(503)).toBe(true);
    expectNothingLost(await historyOf(service.api, speaker, busy), load);
  },
  60_000,
);
