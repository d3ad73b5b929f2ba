import { Injectable } from '@nestjs/common';
import { Batcher, Database, hasScope, type Principal } from '@relayger/kernel';
import { toMessage } from './envelope.js';
import { type FeedPosition, selectFeeds } from './sql/read-feeds.js';
import { type Arrival, type ArrivalAsk, selectArrivals, selectInbox } from './sql/read-inbox.js';

/** A message as a socket sends it: one buffer for everybody who gets it. */
export interface FeedItem {
  sequence: string;
  json: Buffer;
}

export interface Inbox {
  /** The newest sequence of every room. */
  rooms: ReadonlyMap<string, string>;
  /** Incoming contact requests, 0-100; 0 for a token that may not answer them. */
  contactRequests: number;
}

/** Messages of one position in one answer; with the largest ones about 2 MiB. */
export const FEED_BATCH = 32;
/** Positions in one statement. */
const POSITIONS = 16;

/**
 * What those read who listen rather than ask. Looks at no permission: whoever sends it on asks again after it was
 * read. Hundreds of listeners whom one message wakes share one statement and one copy of the message.
 */
@Injectable()
export class FeedService {
  private readonly reads: Batcher<FeedPosition, readonly FeedItem[]>;
  private readonly looks: Batcher<ArrivalAsk, Arrival>;

  constructor(private readonly database: Database) {
    this.reads = new Batcher({
      run: (positions) => this.readTogether(positions),
      maxItems: 4096,
      maxRuns: 2,
    });
    this.looks = new Batcher({
      run: (asks) => selectArrivals(this.database, asks),
      maxItems: 1024,
      maxRuns: 2,
    });
  }

  /** The next messages of a room above a sequence, ascending; fewer than `FEED_BATCH` when there are no more. */
  after(roomId: string, sequence: string): Promise<readonly FeedItem[]> {
    return this.reads.do({ roomId, after: sequence });
  }

  /** Where the rooms stand that a token reaches, and how many contact requests wait. */
  async inbox(caller: Principal): Promise<Inbox> {
    const { identityId, roomIds } = caller;
    const row = await selectInbox(this.database, identityId, roomIds);
    const mayAnswer = hasScope(caller, 'contacts') && roomIds === null;
    return {
      rooms: new Map(row.rooms.map((id, i) => [id, row.sequences[i] as string])),
      contactRequests: mayAnswer ? row.requesters.length : 0,
    };
  }

  /** Whether somebody else has said something in a room since a sequence. */
  arrival(identityId: string, roomId: string, after: string): Promise<Arrival> {
    return this.looks.do({ identityId, roomId, after });
  }

  private async readTogether(positions: FeedPosition[]): Promise<(readonly FeedItem[])[]> {
    const distinct = new Map(positions.map((at) => [keyOf(at), at]));
    const asked = [...distinct.values()];
    const found = new Map<string, readonly FeedItem[]>();
    for (let start = 0; start < asked.length; start += POSITIONS) {
      const part = asked.slice(start, start + POSITIONS);
      const feeds = await selectFeeds(this.database, part, FEED_BATCH);
      for (const [i, rows] of feeds.entries()) {
        const items = rows.map((row) => ({
          sequence: row.seq,
          json: Buffer.from(JSON.stringify(toMessage(row))),
        }));
        found.set(keyOf(part[i] as FeedPosition), items);
      }
    }
    return positions.map((at) => found.get(keyOf(at)) ?? []);
  }
}

function keyOf({ roomId, after }: FeedPosition): string {
  return `${roomId} ${after}`;
}
