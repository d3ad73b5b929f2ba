import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  Batcher,
  Database,
  isRetryable,
  isUnavailable,
  type Transaction,
  violatedConstraint,
  WakeHub,
} from '@relayger/kernel';
import {
  type Attention,
  fail,
  failField,
  type MessageType,
  type Receipt,
} from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { requireSmall } from './payload-size.js';
import { type AppendItem, type AppendRow, insertMessages } from './sql/append-messages.js';
import { searchWords } from './words.js';

/** A message to store. Whatever door it comes through, its size and its words are looked at here. */
export type NewMessage = Omit<AppendItem, 'payload' | 'words'> & { payload: object };

/** What the server appends in somebody's name: events, and replies that are stored together with other work. */
export interface Event {
  roomId: string;
  /** A member of the room. */
  sender: { id: string; human: boolean };
  type: MessageType;
  payload: object;
  replyTo?: string | undefined;
  rootTaskId?: string | undefined;
  attention?: Attention | undefined;
  /** What makes a retry find this event again; without it every call appends one. */
  key?: { clientMessageId: string; fingerprint: string } | undefined;
  /** Where the bulk of the payload stood in the request, for errors. */
  payloadPath?: string | undefined;
  /** Id of the request that it comes from; without one it has its own. */
  traceId?: string | undefined;
}

export interface Appended {
  receipt: Receipt;
  /** True when this key had stored it before. */
  repeated: boolean;
}

/** Each attempt after the first needs another racing commit; more than a few in a row mean something is wrong. */
const ATTEMPTS = 6;

/** The one way into a room's sequence. */
@Injectable()
export class AppenderService {
  private readonly appends: Batcher<AppendItem, AppendRow>;

  constructor(
    private readonly database: Database,
    private readonly hub: WakeHub,
  ) {
    // One commit carries what arrives while the last ones are written: alone, a send is stored at once, and
    // under load the cost of a statement and of a flush to disk is shared.
    this.appends = new Batcher({
      run: (items) => insertMessages(database, items),
      maxItems: 64,
      maxRuns: 1,
      isolate: (error) => !isUnavailable(error),
    });
  }

  /**
   * Stores one message, sharing the commit with others, and wakes its room.
   * @param path where it stood in the request, for errors
   * @returns its row; `room_id` is null when there is no direct conversation with the target yet
   * @throws RelaygerError what the outcome means to the sender
   */
  async append(message: NewMessage, path: string): Promise<AppendRow> {
    const item = toItem(message, `${path}.payload`);
    const row = await settle(async () => {
      const row = await this.appends.do(item);
      return row.outcome === 'no_dm' ? row : accepted(row, item, path);
    });
    if (row.outcome === 'stored') this.hub.wake([`room:${row.room_id}`]);
    return row;
  }

  /**
   * Runs a transaction that appends. When an append in it met a room whose members had just changed, or lost another
   * race, the transaction is undone and runs again, so `work` must change nothing outside of it.
   */
  appending<T>(work: (sql: Transaction) => Promise<T>): Promise<T> {
    return settle(() => this.database.transaction(work));
  }

  /**
   * Stores one message inside a transaction of `appending`; its room is woken after the commit.
   * @throws RelaygerError what the outcome means to the sender
   */
  appendIn(sql: Transaction, message: NewMessage, path: string): Promise<AppendRow> {
    return this.store(sql, toItem(message, `${path}.payload`), path);
  }

  private async store(sql: Transaction, item: AppendItem, path: string): Promise<AppendRow> {
    const [answer] = await insertMessages(sql, [item]);
    const row = accepted(answer as AppendRow, item, path);
    if (row.outcome === 'stored') sql.afterCommit(() => this.hub.wake([`room:${row.room_id}`]));
    return row;
  }

  /**
   * Appends an event inside a transaction of `appending`. Take the locks of your own rows first: rooms come after
   * them, memberships last.
   * @throws RelaygerError `not_found` when the sender is no member, `contact_required`, `contact_unavailable`,
   *   `idempotency_conflict` under the same key, `invalid_request` when the payload is too large
   */
  async appendEvent(sql: Transaction, event: Event): Promise<Appended> {
    const id = uuid();
    const fingerprint = event.key?.fingerprint ?? sha256(JSON.stringify(event.payload));
    const item = toItem(
      {
        id,
        to: { room: event.roomId },
        senderId: event.sender.id,
        human: event.sender.human,
        allowedRooms: null,
        clientMessageId: event.key?.clientMessageId ?? id,
        fingerprint,
        type: event.type,
        payload: event.payload,
        replyTo: event.replyTo ?? null,
        rootTaskId: event.rootTaskId ?? null,
        mentions: [],
        files: [],
        recipients: [],
        attention: event.attention ? JSON.stringify(event.attention) : null,
        traceId: event.traceId ?? id,
      },
      event.payloadPath ?? 'body',
    );
    const row = await this.store(sql, item, 'body');
    return {
      receipt: { id: row.id, room: event.roomId, seq: row.seq },
      repeated: row.outcome === 'repeated',
    };
  }
}

/** @throws RelaygerError `invalid_request` when the payload is too large */
function toItem(message: NewMessage, payloadPath: string): AppendItem {
  const payload = JSON.stringify(message.payload);
  requireSmall(payload, payloadPath);
  return { ...message, payload, words: searchWords(message.type, message.payload) };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The row of a stored or repeated message. Every other outcome is thrown, so that a transaction around it is undone.
 * @throws RelaygerError what the outcome means to the sender
 */
function accepted(row: AppendRow, { type }: AppendItem, path: string): AppendRow {
  switch (row.outcome) {
    case 'stored':
    case 'repeated':
      return row;
    case 'stale':
      throw new StaleAppend();
    case 'conflict':
      return fail('idempotency_conflict');
    case 'no_target':
    case 'no_dm':
    case 'no_room':
      return fail('not_found');
    case 'self':
      return fail('invalid_target');
    case 'closed':
      return fail('contact_required');
    case 'blocked':
      return fail('contact_unavailable');
    case 'bad_reply':
      return failField(`${path}.replyTo`, 'names no message of this room');
    case 'bad_mentions':
      return failField(`${path}.mentions`, 'must name members of this room');
    case 'bad_recipients':
      return failField(`${path}.payload.recipients`, 'must name members of this room');
    case 'bad_files':
      return failField(
        `${path}.payload.${type === 'artifact' ? 'fileId' : 'attachments'}`,
        'must name files of this room that are ready',
      );
  }
}

/** Who may send here changed while the append waited for the room. */
class StaleAppend extends Error {
  override readonly name = 'StaleAppend';
}

/**
 * Runs an append until it neither lost a race nor saw a stale room. A unique violation means that a parallel
 * retry of the same key won: the next attempt finds its message.
 */
async function settle<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const stale = error instanceof StaleAppend;
      if (stale && attempt === ATTEMPTS) fail('unavailable', { retryAfter: 1 });
      const lostRace = stale || violatedConstraint(error) !== null || isRetryable(error);
      if (!lostRace || attempt === ATTEMPTS) throw error;
    }
  }
}
