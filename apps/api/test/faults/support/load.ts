import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, ApiReply } from '@relayger/kernel/testing';
import type { Message, Receipt } from '@relayger/protocol';

export interface Account {
  id: string;
  number: string;
  token: string;
}

export async function register(api: ApiClient): Promise<Account> {
  const { body } = await api.call('register', { body: { kind: 'agent' }, expect: 201 });
  return body;
}

/** A group of these accounts; the first one owns it. */
export async function openGroup(api: ApiClient, ...members: Account[]): Promise<string> {
  const [owner, ...others] = members as [Account, ...Account[]];
  const { token } = owner;
  const room = await api.call('createRoom', { token, body: { name: 'load' }, expect: 201 });
  for (const { id } of others) {
    const params = { room: room.body.id, identity: id };
    await api.call('addMember', { token, params, expect: 201 });
  }
  return room.body.id;
}

export function text(value: string, clientMessageId: string = randomUUID()) {
  return {
    schemaVersion: 1 as const,
    type: 'text' as const,
    payload: { text: value },
    clientMessageId,
  };
}

/** No accident of these tests lasts this long; a sender that still gets no answer ends, and its test with it. */
const PATIENCE_MS = 25_000;

/**
 * Senders that go on whatever happens, as a good client does: after anything but an answer they try the same key again.
 */
export class Load {
  /** Message id by key, of everything that was acknowledged. */
  readonly acknowledged = new Map<string, string>();
  /** How often each status was met; 0 is a connection that failed. */
  readonly statuses = new Map<number, number>();
  /** Replies that a client must never see. */
  readonly wrong: string[] = [];
  private stopped = false;
  private readonly workers: Promise<void>[];

  /** @param api looked up before each send, so that a test can put another process in its place */
  constructor(
    private readonly api: () => ApiClient,
    private readonly room: string,
    senders: readonly Account[],
  ) {
    this.workers = senders.map((sender) => this.work(sender));
  }

  /** Resolves once so many more messages have been acknowledged. */
  async more(count: number): Promise<void> {
    const goal = this.acknowledged.size + count;
    const deadline = performance.now() + PATIENCE_MS;
    while (this.acknowledged.size < goal) {
      if (performance.now() > deadline) throw new Error(`No progress: ${this.summary()}`);
      await sleep(5);
    }
  }

  summary(): string {
    return JSON.stringify({ statuses: [...this.statuses], wrong: this.wrong.slice(0, 5) });
  }

  /** Finishes what is under way and stops. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.workers);
  }

  private async work({ token }: Account): Promise<void> {
    while (!this.stopped) {
      const body = text('under load');
      const deadline = performance.now() + PATIENCE_MS;
      // A key that was tried once is tried until it is answered, so that "in doubt" ends for every message.
      while ((await this.try(token, body)) === null) {
        if (performance.now() > deadline) return void this.wrong.push('gave up');
        await sleep(20);
      }
    }
  }

  private async try(token: string, body: { clientMessageId: string }): Promise<Receipt | null> {
    const path = `/v1/rooms/${this.room}/messages?view=receipt`;
    let reply: ApiReply | null;
    try {
      reply = await this.api().raw('POST', path, { token, body });
    } catch (error) {
      // The client throws on replies outside of the contract, too; only a dead connection has a code.
      if (!(error as NodeJS.ErrnoException).code) this.wrong.push(String(error));
      reply = null;
    }
    const status = reply?.status ?? 0;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (reply && status < 300) {
      this.acknowledged.set(body.clientMessageId, (reply.body as Receipt).id);
      return reply.body as Receipt;
    }
    if (reply && (status !== 503 || reply.headers['retry-after'] === undefined)) {
      this.wrong.push(`${status} ${reply.text}`);
    }
    return null;
  }
}

/** All that a room holds. */
export async function historyOf(api: ApiClient, { token }: Account, room: string) {
  const all: Message[] = [];
  for (let more = true; more; ) {
    const query = { after: all.at(-1)?.sequence ?? '0', limit: 100 };
    const { body } = await api.call('listMessages', {
      token,
      params: { room },
      query,
      expect: 200,
    });
    all.push(...body);
    more = body.length === 100;
  }
  return all;
}

/** What must hold after any accident: every acknowledged message is there, once, and the numbers have no gap. */
export function expectNothingLost(history: readonly Message[], load: Load): void {
  expect(history.map(({ sequence }) => Number(sequence))).toEqual(history.map((_, i) => i + 1));
  const stored = new Map(history.map((message) => [message.clientMessageId, message.messageId]));
  expect(stored.size).toBe(history.length);
  expect(load.wrong).toEqual([]);
  // Every key was tried until it was answered, so there is nothing beyond the acknowledged ones either.
  expect(stored).toEqual(load.acknowledged);
}
