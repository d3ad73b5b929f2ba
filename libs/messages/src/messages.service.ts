import { Injectable } from '@nestjs/common';
import { IdentitiesService, PresenceService } from '@relayger/identities';
import { Database, type Principal, type Transaction, WakeHub } from '@relayger/kernel';
import {
  fail,
  failField,
  LIMITS,
  type Message,
  parseAddress,
  type Receipt,
  type SendMessage,
} from '@relayger/protocol';
import { RoomsService, requireReached } from '@relayger/rooms';
import { v7 as uuid } from 'uuid';
import { AppenderService, type NewMessage } from './appender.service.js';
import { sentMessage, toMessage } from './envelope.js';
import { fingerprint } from './fingerprint.js';
import type { AppendItem, AppendRow } from './sql/append-messages.js';
import { selectMessage, selectMessages } from './sql/list-messages.js';

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
  /** True when this key had stored the message before. */
  repeated: boolean;
  /** The whole message; one that is repeated is read back, since it may have been corrected or retracted. */
  envelope: () => Promise<Message>;
}

/** What tasks know of the messages that belong to a root task. */
export interface RootTasks {
  /** Locks the task; false when it is no root task of the room. */
  lock(sql: Transaction, roomId: string, taskId: string): Promise<boolean>;
  /** Counts one message. @throws RelaygerError `task_tree_limit` */
  countMessage(sql: Transaction, taskId: string): Promise<void>;
}

/** Stored, numbered messages. */
@Injectable()
export class MessagesService {
  private rootTasks: RootTasks | null = null;

  constructor(
    private readonly database: Database,
    private readonly appender: AppenderService,
    private readonly rooms: RoomsService,
    private readonly identities: IdentitiesService,
    private readonly presence: PresenceService,
    private readonly hub: WakeHub,
  ) {}

  /** Tasks build on messages, so they say themselves which of them a message may belong to. */
  useRootTasks(rootTasks: RootTasks): void {
    this.rootTasks = rootTasks;
  }

  /**
   * Stores a message in a room that the caller is a member of.
   * @throws RelaygerError `not_found`, `invalid_request` (references), `contact_required`,
   *   `contact_unavailable`, `idempotency_conflict`, `task_tree_limit`
   */
  async send(caller: Principal, roomId: string, draft: Draft): Promise<Sent> {
    const item = toItem(caller, { room: roomId }, draft);
    const row = item.rootTaskId
      ? await this.appender.appending((sql) => this.appendRooted(sql, item, roomId, draft.path))
      : await this.appender.append(item, draft.path);
    return this.toSent(caller, draft, roomId, row);
  }

  /**
   * Stores a message in the direct conversation with `target`, opening it when there is none, in one transaction.
   * @throws RelaygerError as `send`, and `invalid_target`, `insufficient_scope`, `room_restricted_token`
   */
  async sendDirect(caller: Principal, target: string, draft: Draft): Promise<Sent> {
    const address = parseAddress(target, 'body.target');
    // A conversation that is not there yet holds no task.
    if (draft.message.rootTaskId !== undefined) {
      const peer = await this.identities.resolveActive(target, 'body.target');
      const room = await this.rooms.findDm(caller.identityId, peer.id);
      if (!room) failField(`${draft.path}.rootTaskId`, NO_ROOT_TASK);
      return this.send(caller, room, draft);
    }
    const found = await this.appender.append(
      toItem(caller, { target: address }, draft),
      draft.path,
    );
    if (found.room_id !== null) return this.toSent(caller, draft, found.room_id, found);

    const peer = await this.identities.resolveActive(target, 'body.target');
    const { room, row } = await this.appender.appending(async (sql) => {
      const room = await this.rooms.openDm(sql, caller, peer);
      const item = toItem(caller, { room: room.id }, draft);
      return { room, row: await this.appender.appendIn(sql, item, draft.path) };
    });
    if (room.created) this.hub.wake([`identity:${peer.id}`]);
    return this.toSent(caller, draft, room.id, row);
  }

  /**
   * A message as it is stored now.
   * @throws RelaygerError `not_found`
   */
  async get(caller: Principal, roomId: string, messageId: string): Promise<Message> {
    await this.rooms.access(caller, roomId);
    const row = await selectMessage(this.database, roomId, messageId);
    return row ? toMessage(row) : fail('not_found');
  }

  /**
   * A page of a room's history, ascending.
   * @throws RelaygerError `not_found`, `invalid_request` when both cursors are given, or `after` is above the newest
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
    const { last_seq } = await this.rooms.access(caller, roomId);
    if (after !== undefined) requireReached(after, last_seq, 'query.after');
    return (await selectMessages(this.database, roomId, { after, before, limit })).map(toMessage);
  }

  private async toSent(
    caller: Principal,
    { message }: Draft,
    roomId: string,
    row: AppendRow,
  ): Promise<Sent> {
    const repeated = row.outcome === 'repeated';
    if (message.type === 'status' && !repeated)
      await this.presence.report(caller.identityId, message.payload.state);
    return {
      receipt: { id: row.id, room: roomId, seq: row.seq },
      repeated,
      envelope: async () =>
        repeated ? this.get(caller, roomId, row.id) : sentMessage(caller, roomId, message, row),
    };
  }

  /** Stores a message that belongs to a root task, and counts it there. The task is locked before the room is. */
  private async appendRooted(
    sql: Transaction,
    item: NewMessage,
    roomId: string,
    path: string,
  ): Promise<AppendRow> {
    const taskId = item.rootTaskId as string;
    const known = await this.rootTasks?.lock(sql, roomId, taskId);
    if (!known) {
      // Who may not send here must not learn which tasks exist: the append says so first.
      await this.appender.appendIn(sql, item, path);
      failField(`${path}.rootTaskId`, NO_ROOT_TASK);
    }
    const row = await this.appender.appendIn(sql, item, path);
    if (row.outcome === 'stored') await this.rootTasks?.countMessage(sql, taskId);
    return row;
  }
}

const NO_ROOT_TASK = 'names no root task of this room';

function toItem(
  caller: Principal,
  to: AppendItem['to'],
  { message, rawPayload, traceId }: Draft,
): NewMessage {
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
    payload: message.payload,
    replyTo: message.replyTo ?? null,
    rootTaskId: message.rootTaskId ?? null,
    mentions: message.mentions ?? [],
    files: filesOf(message),
    recipients: message.type === 'sealed' ? message.payload.recipients.map(({ id }) => id) : [],
    attention:
      'attention' in message && message.attention ? JSON.stringify(message.attention) : null,
    traceId,
  };
}

/** The files that a message uses. */
function filesOf(message: SendMessage): readonly string[] {
  if (message.type === 'artifact') return [message.payload.fileId];
  return message.type === 'text' ? (message.payload.attachments ?? []) : [];
}
