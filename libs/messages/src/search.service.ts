import { Injectable } from '@nestjs/common';
import { Batcher, Database, type Principal } from '@relayger/kernel';
import { fail, failField, LIMITS, type Message, parseAddress } from '@relayger/protocol';
import { toMessage } from './envelope.js';
import { NewestWalk } from './newest-walk.js';
import { selectFromIndex } from './sql/search-index.js';
import { loadHitMessages } from './sql/search-load.js';
import { selectSearchScope } from './sql/search-scope.js';
import type { Hit, SearchTerms } from './sql/search-terms.js';

export interface SearchQuery {
  q: string;
  room?: string;
  /** An address in any spelling. */
  sender?: string;
  type?: 'text' | 'data';
  /** Milliseconds since 1970, inclusive. */
  since?: number;
  /** The same, exclusive. */
  until?: number;
  limit?: number;
}

/** Searches of this process at the same time; others wait, so that searching leaves connections for everything else. */
const AT_ONCE = 4;
/** A search that takes longer is given up, in ms. */
const PATIENCE = 3_000;
/** What the index costs, in ms: a match, whose page lies anywhere in the table, and a room. */
const MATCH_MS = 0.004;
const ROOM_MS = 0.02;

/** Finding messages by their words. */
@Injectable()
export class SearchService {
  private readonly turns = new Batcher<() => Promise<Hit[]>, Hit[]>({
    run: ([search]) => Promise.all(search ? [search()] : []),
    maxItems: 1,
    maxRuns: AT_ONCE,
  });

  constructor(private readonly database: Database) {}

  /**
   * The newest messages with all words of `q`, of the rooms that the caller can read now.
   * @throws RelaygerError `invalid_request` when `q` has no word, `not_found` for a room that the caller cannot read,
   *   `invalid_number`, `invalid_number_check_digit`
   */
  async search(caller: Principal, query: SearchQuery): Promise<Message[]> {
    const { q, room, type, since, until, limit = LIMITS.searchMax } = query;
    const sender = query.sender === undefined ? null : parseAddress(query.sender, 'query.sender');
    const { identityId, roomIds } = caller;
    const scope = await selectSearchScope(this.database, {
      ...{ identityId, roomIds, room, q, sender, until },
    });
    if (!scope.has_words) failField('query.q', 'must have a word');
    if (room !== undefined && scope.rooms.length === 0) fail('not_found');
    // Whether somebody has such an address is not told here.
    if (sender && scope.sender_id === null) return [];
    const terms: SearchTerms = { q, type, senderId: scope.sender_id, since, until };
    const walk = new NewestWalk(scope, terms, limit);
    const hits = await this.turns.do(() =>
      this.find(
        walk,
        scope.rooms.map(({ room }) => room),
      ),
    );
    return (await loadHitMessages(this.database, identityId, hits)).map(toMessage);
  }

  /**
   * Common words are found by walking back from the newest messages, rare ones by the index; either is slow where the
   * other is fast. The walk begins, and shows how rare the words are here: it goes on as long as that looks cheaper
   * than reading all matches. Measured on 1,000,000 messages: see sql/search-index.ts.
   */
  private async find(walk: NewestWalk, rooms: readonly string[]): Promise<Hit[]> {
    const deadline = performance.now() + PATIENCE;
    let indexed = false;
    while (!walk.settled) {
      const indexMs = walk.expectedMatches * MATCH_MS + rooms.length * ROOM_MS;
      if (!indexed && walk.expectedMs > indexMs) {
        indexed = true;
        const hits = await this.database.transaction((sql) =>
          selectFromIndex(sql, walk.terms, rooms, walk.limit),
        );
        if (hits) return hits;
      }
      await walk.step(this.database);
      if (performance.now() > deadline) fail('unavailable', { retryAfter: 5 });
    }
    return walk.found;
  }
}
