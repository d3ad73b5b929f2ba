import { Injectable } from '@nestjs/common';
import { IdentitiesService } from '@relayger/identities';
import {
  Batcher,
  Database,
  isRetryable,
  isUnavailable,
  type Principal,
  violatedConstraint,
  WakeHub,
} from '@relayger/kernel';
import {
  fail,
  failField,
  LIMITS,
  type Message,
  parseAddress,
  type Receipt,
  type SendMessage,
} from '@relayger/protocol';
import { RoomsService } from '@relayger/rooms';
import { v7 as uuid } from 'uuid';
import { sentMessage, toMessage } from './envelope.js';
import { fingerprint } from './fingerprint.js';
import { type AppendItem, type AppendRow, insertMessages } from './sql/append-messages.js';
import { selectMessages } from './sql/list-messages.js';

/** A message as it came in: checked, with the exact bytes of its payload and the id of its request. */
export interface Draft {
  message: SendMessage;
  rawPayload: string;
  traceId: string;
  /** Where the message stood in the request, for errors: `body` or `body.message`. */
  path: string;
}

export interface Sent {
  receipt: Receipt;
  envelope: Message;
  /** True when this key had stored the message before. */
  repeated: boolean;
}

/** Each attempt after the first needs another racing commit; more than a few in a row mean something is wrong. */
const ATTEMPTS = 6;

/** Stored, numbered messages. */
@Injectable()
export class MessagesService {
  private readonly appends: Batcher<AppendItem, AppendRow>;

  constructor(
    private readonly database: Database,
    private readonly rooms: RoomsService,
    private readonly identities: IdentitiesService,
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
   * Stores a message in a room that the caller is a member of.
   * @throws RelaygerError `not_found`, `invalid_request` (references), `contact_required`,
   *   `contact_unavailable`, `idempotency_conflict`
   */
  async send(caller: Principal, roomId: string, draft: Draft): Promise<Sent> {
    const item = toItem(caller, { room: roomId }, draft);
    const row = await settle(async () => accepted(await this.appends.do(item), draft));
    return this.finish(caller, draft, roomId, row);
  }

  /**
   * Stores a message in the direct conversation with `target`, opening it when there is none, in one transaction.
   * @throws RelaygerError as `send`, and `invalid_target`, `insufficient_scope`, `room_restricted_token`
   */
  async sendDirect(caller: Principal, target: string, draft: Draft): Promise<Sent> {
    const item = toItem(caller, { target: parseAddress(target, 'body.target') }, draft);
    const found = await settle(async () => {
      const row = await this.appends.do(item);
      return row.outcome === 'no_dm' ? row : accepted(row, draft);
    });
    if (found.room_id !== null) return this.finish(caller, draft, found.room_id, found);

    const peer = await this.identities.resolveActive(target, 'body.target');
    const { room, row } = await settle(() =>
      this.database.transaction(async (sql) => {
        const room = await this.rooms.openDm(sql, caller, peer);
        const [row] = await insertMessages(sql, [toItem(caller, { room: room.id }, draft)]);
        return { room, row: accepted(row as AppendRow, draft) };
      }),
    );
    const sent = this.finish(caller, draft, room.id, row);
    if (room.created) this.hub.wake([`identity:${peer.id}`]);
    return sent;
  }

  /**
   * A page of a room's history, ascending.
   * @throws RelaygerError `not_found`, `invalid_request` when both cursors are given
   */
  async history(
    caller: Principal,
    roomId: string,
    {
      after,
      before,
      limit = LIMITS.historyDefault,
    }: { after?: string; before?: string; limit?: number },
  ): Promise<Message[]> {
    if (after !== undefined && before !== undefined)
      failField('query', 'takes either after or before, not both');
    await this.rooms.access(caller, roomId);
    return (await selectMessages(this.database, roomId, { after, before, limit })).map(toMessage);
  }

  /** After the commit: wakes the room when something new was stored. */
  private finish(caller: Principal, { message }: Draft, roomId: string, row: AppendRow): Sent {
    if (row.outcome === 'stored') this.hub.wake([`room:${roomId}`]);
    return {
      receipt: { id: row.id, room: roomId, seq: row.seq },
      envelope: sentMessage(caller, roomId, message, row),
      repeated: row.outcome === 'repeated',
    };
  }
}

/**
 * The row of a stored or repeated message. Every other outcome is thrown, so that a transaction around it is undone.
 * @throws RelaygerError what the outcome means to the sender
 */
function accepted(row: AppendRow, { path }: Draft): AppendRow {
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

function toItem(
  caller: Principal,
  to: AppendItem['to'],
  { message, rawPayload, traceId, path }: Draft,
): AppendItem {
  checkReferences(message, path);
  return {
    id: uuid(),
    to,
    senderId: caller.identityId,
    human: caller.kind === 'human',
    allowedRooms: caller.roomIds,
    clientMessageId: message.clientMessageId,
    fingerprint: fingerprint(message, rawPayload),
    type: message.type,
    // Not the raw bytes: of two equal keys the validation saw the last one only, and the first may hold anything.
    payload: JSON.stringify(message.payload),
    replyTo: message.replyTo ?? null,
    mentions: message.mentions ?? [],
    recipients: message.type === 'sealed' ? message.payload.recipients.map(({ id }) => id) : [],
    attention:
      'attention' in message && message.attention ? JSON.stringify(message.attention) : null,
    traceId,
  };
}

/** Files and tasks belong to later steps of this server: there are none yet that a message could point to. */
function checkReferences(message: SendMessage, path: string): void {
  const absent = 'names nothing in this room';
  if (message.rootTaskId !== undefined) failField(`${path}.rootTaskId`, absent);
  if (message.type === 'artifact') failField(`${path}.payload.fileId`, absent);
  if (message.type === 'text' && message.payload.attachments)
    failField(`${path}.payload.attachments`, absent);
}
