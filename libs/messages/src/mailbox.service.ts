import { Injectable } from '@nestjs/common';
import { mayAnswerRequests } from '@relayger/contacts';
import {
  Batcher,
  Database,
  hasScope,
  isRetryable,
  mayUseRoom,
  type Principal,
  WakeHub,
} from '@relayger/kernel';
import {
  type AckRequest,
  type AckResponse,
  fail,
  failField,
  LIMITS,
  type MailboxItem,
} from '@relayger/protocol';
import { toMailboxItem } from './envelope.js';
import { updateCursors } from './sql/ack-room.js';
import { type MailboxAsk, type MailboxRow, selectMailboxes } from './sql/read-mailboxes.js';

export interface MailboxPage {
  items: MailboxItem[];
  /** Incoming contact requests, 0-100; 0 for a token that may not answer them. */
  contactRequests: number;
}

interface ReadOptions {
  limit?: number | undefined;
  /** Seconds. */
  wait?: number | undefined;
  consume?: boolean | undefined;
}

/** The client that waits. */
export interface WaitingConnection {
  /** Aborted when the client has hung up. */
  gone: AbortSignal;
  /** Throws when the client's token is no longer good: a wait may outlive it. */
  reauthorize: () => Promise<void>;
}

/** More open waits of one identity than any sensible number of devices; each costs memory on the server. */
const WAITS_PER_IDENTITY = 32;
/** Open waits of the process; at about 40 KiB each they stay below half a gigabyte. */
const WAITS = 10_000;

/** Messages that one statement answers at the most, over all mailboxes that are read in it. */
const MESSAGES_AT_ONCE = 1_000;

/** Pending messages, and waiting for them. */
@Injectable()
export class MailboxService {
  private readonly reads: Batcher<MailboxAsk, MailboxRow>;
  private readonly waits = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly hub: WakeHub,
  ) {
    this.reads = new Batcher({
      run: (asks) => this.readTogether(asks),
      maxItems: 128,
      maxRuns: 4,
      // A message has up to 64 KiB: an answer of more of them would hold up everybody while it is read and written.
      weigh: { item: ({ limit }) => limit, max: MESSAGES_AT_ONCE },
    });
  }

  /**
   * The caller's pending messages. With `wait`, an empty answer is held until a message, a new membership, a new
   * contact request or the end of the time. Waiting holds no database connection.
   * @throws RelaygerError `insufficient_scope` (consume needs write), `too_many_waits`, and `unauthorized` when the
   *   token ended while the call waited
   */
  async read(
    caller: Principal,
    { limit = LIMITS.mailboxDefault, wait = 0, consume = false }: ReadOptions,
    connection: WaitingConnection,
  ): Promise<MailboxPage> {
    if (consume && !hasScope(caller, 'write')) fail('insufficient_scope', { required: ['write'] });
    // Nobody would receive what is consumed now, and nobody would end the wait.
    if (connection.gone.aborted) return { items: [], contactRequests: 0 };
    const ask: MailboxAsk = {
      identityId: caller.identityId,
      roomIds: caller.roomIds,
      limit,
      consume,
      rooms: wait > 0,
    };
    if (wait === 0) return toPage(caller, await this.reads.do(ask));
    const leave = this.enter(caller.identityId);
    try {
      return toPage(caller, await this.readOrWait(caller, ask, wait * 1000, connection));
    } finally {
      leave();
    }
  }

  /**
   * Marks a room delivered up to a sequence; a lower one changes nothing.
   * @throws RelaygerError `not_found`, `human_only`, `invalid_request` above the newest message
   */
  async ack(
    caller: Principal,
    roomId: string,
    { sequence, seen = false }: AckRequest,
  ): Promise<AckResponse> {
    if (seen && caller.kind !== 'human') fail('human_only');
    const row = mayUseRoom(caller, roomId)
      ? await updateCursors(this.database, roomId, caller.identityId, sequence, seen)
      : null;
    if (!row) fail('not_found');
    const { last_seq, delivered_seq, seen_seq } = row;
    if (delivered_seq === null || seen_seq === null)
      failField('body.sequence', `is above the newest message, ${last_seq}`);
    return {
      deliveredSequence: delivered_seq,
      ...(caller.kind === 'human' && { seenSequence: seen_seq }),
    };
  }

  private async readOrWait(
    caller: Principal,
    ask: MailboxAsk,
    ms: number,
    { gone, reauthorize }: WaitingConnection,
  ): Promise<MailboxRow> {
    const deadline = performance.now() + ms;
    const waiter = this.hub.waiter();
    const hangUp = () => waiter.close();
    gone.addEventListener('abort', hangUp, { once: true });
    try {
      // Subscribed before the first look: a membership or request that commits after it wakes us.
      waiter.add(`identity:${caller.identityId}`);
      const first = await this.reads.do(ask);
      let row = first;
      for (;;) {
        if (row.page || hasNews(caller, first, row)) return row;
        const known = waiter.subscribed.size;
        for (const room of row.rooms ?? []) waiter.add(`room:${room}`);
        // Whatever was said in these rooms before we listened to them is found by one more look.
        if (waiter.subscribed.size > known) {
          row = await this.reads.do(ask);
          if (row.page) return row;
        }
        const end = await waiter.wait(deadline - performance.now());
        if (end === 'closed') return row;
        await reauthorize();
        row = await this.reads.do(ask);
        // The time is up: this look is the last, and finds what a lost wake would have told.
        if (end === 'timeout') return row;
      }
    } finally {
      gone.removeEventListener('abort', hangUp);
      waiter.close();
    }
  }

  private enter(identityId: string): () => void {
    const open = this.waits.get(identityId) ?? 0;
    if (open >= WAITS_PER_IDENTITY) fail('too_many_waits', { retryAfter: 1 });
    if (this.hub.size >= WAITS) fail('unavailable', { retryAfter: 5 });
    this.waits.set(identityId, open + 1);
    return () => {
      const left = (this.waits.get(identityId) ?? 1) - 1;
      if (left > 0) this.waits.set(identityId, left);
      else this.waits.delete(identityId);
    };
  }

  /** Equal questions are asked once: an identity that asks many times at once costs one answer. */
  private async readTogether(asks: MailboxAsk[]): Promise<MailboxRow[]> {
    const known = new Map<string, number>();
    const different: MailboxAsk[] = [];
    const places = asks.map((ask) => {
      const key = JSON.stringify(ask);
      const place = (ask.consume ? undefined : known.get(key)) ?? different.push(ask) - 1;
      known.set(key, place);
      return place;
    });
    const rows = await this.readDifferent(different);
    return places.map((place) => rows[place] as MailboxRow);
  }

  private async readDifferent(asks: MailboxAsk[]): Promise<MailboxRow[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await selectMailboxes(this.database, asks);
      } catch (error) {
        if (!isRetryable(error) || attempt === 3) throw error;
      }
    }
  }
}

/** Whether a request or a membership came after the first look: both end a wait, standing ones do not. */
function hasNews(caller: Principal, first: MailboxRow, row: MailboxRow): boolean {
  const rooms = new Set(first.rooms);
  if (row.rooms?.some((room) => !rooms.has(room))) return true;
  if (!mayAnswerRequests(caller)) return false;
  const requesters = new Set(first.requesters);
  return row.requesters.some((id) => !requesters.has(id));
}

function toPage(caller: Principal, row: MailboxRow): MailboxPage {
  return {
    items: (row.page ?? []).map(toMailboxItem),
    contactRequests: mayAnswerRequests(caller) ? row.requesters.length : 0,
  };
}
