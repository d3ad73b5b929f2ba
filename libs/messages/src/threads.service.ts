import { Injectable } from '@nestjs/common';
import { Database, type Principal } from '@relayger/kernel';
import { fail, LIMITS, type Message, type Thread } from '@relayger/protocol';
import { RoomsService, requireReached } from '@relayger/rooms';
import { toMessage } from './envelope.js';
import { selectThread } from './sql/list-thread.js';

/** Which page of a thread. */
export interface ThreadPage {
  /** Only replies with a higher sequence of the room. */
  after?: string | undefined;
  limit?: number | undefined;
  /** Of the whole reply as JSON. */
  maxBytes?: number | undefined;
}

/** Reply chains as bounded context. */
@Injectable()
export class ThreadsService {
  constructor(
    private readonly database: Database,
    private readonly rooms: RoomsService,
  ) {}

  /**
   * A page of the thread that a message belongs to, wherever in it the message is.
   * @throws RelaygerError `not_found`; `context_item_too_large` when the root, or the root with the first reply,
   *   takes more than `maxBytes`: an empty page would look like the end, or be asked for again for ever
   */
  async read(
    caller: Principal,
    roomId: string,
    messageId: string,
    {
      after = '0',
      limit = LIMITS.threadDefault,
      maxBytes = LIMITS.threadBytesDefault,
    }: ThreadPage = {},
  ): Promise<Thread> {
    const { last_seq } = await this.rooms.access(caller, roomId);
    requireReached(after, last_seq, 'query.after');
    const rows = await selectThread(this.database, roomId, messageId, { after, limit, maxBytes });
    if (!rows) fail('not_found');
    const root = toMessage(rows.root);
    const next = ({ sequence }: Message) => (sequence === rows.newestReply ? null : sequence);

    const page: Thread = { root, messages: [], next: null };
    let bytes = jsonBytes(page);
    if (bytes > maxBytes) fail('context_item_too_large', { messageId: root.messageId, bytes });
    // Every step adds the reply and its comma, and exchanges what `next` takes.
    for (const reply of rows.replies.map(toMessage)) {
      const comma = page.messages.length > 0 ? 1 : 0;
      const larger =
        bytes + comma + jsonBytes(reply) + jsonBytes(next(reply)) - jsonBytes(page.next);
      if (larger > maxBytes && page.messages.length === 0)
        fail('context_item_too_large', { messageId: reply.messageId, bytes: larger });
      if (larger > maxBytes) break;
      page.messages.push(reply);
      page.next = next(reply);
      bytes = larger;
    }
    return page;
  }
}

/** What a value takes in a reply: compact JSON in UTF-8, escapes included. */
function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
