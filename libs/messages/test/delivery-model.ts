import { LIVE_TYPES, type MailboxItem, type MessageType } from '@relayger/protocol';

// What rooms and mailboxes should be like, in plain arrays: the oracle of delivery.model.test.ts.

/** An agent of the model, by its place in the crowd. */
export type Who = number;

export interface Stored {
  id: string;
  seq: number;
  from: Who;
  type: MessageType;
  payload: object;
  replyTo?: string;
  revision?: { state: 'corrected' | 'retracted'; count: number };
}

export class ModelRoom {
  readonly messages: Stored[] = [];
  /** The members, each with its stored cursor. */
  readonly cursors = new Map<Who, number>();

  constructor(
    readonly id: string,
    readonly owner: Who,
    members: readonly Who[],
  ) {
    for (const who of members) this.cursors.set(who, 0);
  }

  get last(): number {
    return this.messages.length;
  }

  /** What waits for a member, oldest first; nothing for anybody else. */
  pending(who: Who, above = this.cursors.get(who) ?? this.last): Stored[] {
    const live: readonly string[] = LIVE_TYPES;
    return this.messages.filter(
      ({ seq, from, type }) => seq > above && from !== who && !live.includes(type),
    );
  }

  /** The cursor as the list of rooms shows it: just before the first message that waits. */
  delivered(who: Who, above?: number): number {
    const [first] = this.pending(who, above);
    return first ? first.seq - 1 : this.last;
  }

  /** Everything up to `seq` is handled, and what follows of the member's own and of live events. */
  handle(who: Who, seq: number): void {
    if (seq > (this.cursors.get(who) ?? this.last)) this.cursors.set(who, this.delivered(who, seq));
  }

  /** What a member says takes its cursor along, up to the first message that waits. */
  say(message: Omit<Stored, 'seq'>): void {
    this.append(message);
    this.cursors.set(message.from, this.delivered(message.from));
  }

  append(message: Omit<Stored, 'seq'>): void {
    this.messages.push({ ...message, seq: this.last + 1 });
  }

  /** Changes a message in place; null takes it back. */
  revise(message: Stored, payload: object | null): void {
    const count = message.revision?.count ?? 0;
    if (payload) {
      message.payload = payload;
      message.revision = { state: 'corrected', count: count + 1 };
      return;
    }
    message.payload =
      message.type === 'data' ? { schema: 'a.v1', data: {} } : { text: '[retracted]' };
    message.revision = { state: 'retracted', count };
    for (const event of this.messages) {
      if (event.replyTo !== message.id) continue;
      const { payload: _, ...rest } = event.payload as { payload?: object };
      event.payload = rest;
    }
  }
}

interface Pending {
  room: ModelRoom;
  message: Stored;
}

/** The page of a mailbox: the first ones of all rooms, then the second ones, and so on. */
export function pageOf(rooms: readonly ModelRoom[], who: Who, limit: number): Pending[] {
  return rooms
    .flatMap((room) => room.pending(who).map((message, nth) => ({ room, message, nth })))
    .sort((a, b) => a.nth - b.nth || (a.room.id < b.room.id ? -1 : 1))
    .slice(0, limit);
}

/** A pending message as the mailbox shows it. */
export function itemOf({ room, message }: Pending, numbers: readonly string[]): MailboxItem {
  const { id, seq, from, type, payload, replyTo } = message;
  const links = replyTo === undefined ? {} : { reply: replyTo };
  return {
    id,
    room: room.id,
    seq: String(seq),
    from: numbers[from],
    type,
    body: payload,
    ...links,
  } as MailboxItem;
}
