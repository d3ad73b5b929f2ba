import { Injectable } from '@nestjs/common';
import { Batcher, Database, type Principal } from '@relayger/kernel';
import { fail, failField, LIMITS, type Message, parseAddress } from '@relayger/protocol';
import { toMessage } from './envelope.js';
import { NewestWalk } from './newest-walk.js';
import { estimateMatches } from './sql/search-estimate.js';
import { selectFromIndex } from './sql/search-index.js';
import { loadHitMessages } from './sql/search-load.js';
import { type SearchScope, selectSearchScope } from './sql/search-scope.js';
import type { Hit, SearchTerms } from './sql/search-terms.js';
import { wordsIn } from './words.js';

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
/**
 * What the index costs, in ms: a match, whose page lies anywhere in the table; a room, where it is looked up by room
 * and word; and a room in the plan.
 */
const MATCH_MS = 0.004;
const LOOKUP_MS = 0.05;
const PLAN_MS = 0.004;

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
    const { room, type, since, until, limit = LIMITS.searchMax } = query;
    const q = wordsIn(query.q);
    if (q === '') failField('query.q', 'must have a word');
    const sender = query.sender === undefined ? null : parseAddress(query.sender, 'query.sender');
    const { identityId, roomIds } = caller;
    const scope = await selectSearchScope(this.database, {
      identityId,
      roomIds,
      room,
      sender,
      until,
    });
    if (room !== undefined && scope.rooms.length === 0) fail('not_found');
    // Whether somebody has such an address is not told here.
    if (sender && scope.sender_id === null) return [];
    const terms: SearchTerms = { q, type, senderId: scope.sender_id, since, until };
    const hits = await this.turns.do(() => this.find(scope, terms, limit));
    return (await loadHitMessages(this.database, identityId, hits)).map(toMessage);
  }

  /**
   * Common words are found by walking back from the newest messages, rare ones by the index; either is slow where the
   * other is fast. How rare the words are is known for the whole service, and the first steps of the walk show it for
   * the caller's rooms. The walk goes on as long as it looks cheaper than reading all matches; either takes the longest
   * where both cost the same, for words in about one message of a hundred.
   */
  private async find(scope: SearchScope, terms: SearchTerms, limit: number): Promise<Hit[]> {
    const deadline = performance.now() + PATIENCE;
    const matches = await estimateMatches(this.database, terms);
    // Before the first look of the planner at the table, any word is as good as another.
    const usual = scope.stored > 0 ? matches / scope.stored : 0.01;
    const walk = new NewestWalk(scope, terms, limit, usual);
    const rooms = scope.rooms.map(({ room }) => room);
    let indexed = false;
    while (!walk.settled) {
      const byRoom = walk.expectedMatches * MATCH_MS + rooms.length * LOOKUP_MS;
      const indexMs = Math.min(matches * MATCH_MS, byRoom) + rooms.length * PLAN_MS;
      if (!indexed && walk.expectedMs > indexMs) {
        indexed = true;
        const hits = await this.database.transaction((sql) =>
          selectFromIndex(sql, terms, rooms, limit),
        );
        if (hits) return hits;
      }
      await walk.step(this.database);
      if (performance.now() > deadline) fail('unavailable', { retryAfter: 5 });
    }
    return walk.found;
  }
}
