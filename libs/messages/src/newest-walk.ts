import type { Sql } from '@relayger/kernel';
import type { SearchScope } from './sql/search-scope.js';
import type { Hit, SearchTerms } from './sql/search-terms.js';
import { type Position, walkNewest } from './sql/search-walk.js';

/** Messages that a step looks at, in all rooms together, at least and at most: 1 and 25 ms. */
const SHORTEST_STEP = 500;
const LONGEST_STEP = 20_000;
/** Messages of each room, at least: entering a room costs as much as looking at so many. */
const LEAST_EACH = 6;
/** So few are walked through without thinking of another way. */
const FEW = 2_000;
/** What looking at a message costs, and what entering a room costs besides, in ms (see sql/search-walk.ts). */
const MESSAGE_MS = 0.0015;
const ROOM_MS = 0.01;
/** What is known of all messages counts as much as so many of the caller's own. */
const PRIOR = 2_000;

/**
 * A walk back through many rooms at once, from the newest message of each, that collects what matches. Within a room
 * time follows the sequence. So a room is done when its walk has come to a time before the last match that counts, and
 * the newest of all rooms are found without looking at what is older in most of them.
 */
export class NewestWalk {
  private open: readonly Position[];
  private left: number;
  private walked = 0;
  private matched = 0;
  private hits: Hit[] = [];

  constructor(
    scope: SearchScope,
    readonly terms: SearchTerms,
    readonly limit: number,
    /** Matches a message in the whole service. */
    private readonly usualDensity: number,
  ) {
    this.open = scope.rooms;
    this.left = scope.rooms.reduce((sum, { newest }) => sum + Number(newest), 0);
  }

  /** Nothing that the walk has not come to can be among the newest matches. */
  get settled(): boolean {
    return this.open.length === 0;
  }

  /** The newest matches so far, newest first. */
  get found(): Hit[] {
    return this.hits;
  }

  /** Matches in all that is left, after what was seen so far. */
  get expectedMatches(): number {
    return this.density * this.left;
  }

  /** Time until the walk is settled, after what was seen so far; 0 where little is left. */
  get expectedMs(): number {
    if (this.left <= FEW) return 0;
    return this.expectedWalk * MESSAGE_MS + this.open.length * ROOM_MS;
  }

  /** Looks at more messages of the rooms that are not done. */
  async step(sql: Sql): Promise<void> {
    const messages = Math.min(LONGEST_STEP, Math.max(SHORTEST_STEP, this.expectedWalk * 1.2));
    const each = Math.max(LEAST_EACH, Math.ceil(messages / this.open.length));
    const steps = await walkNewest(sql, this.terms, this.open, each);

    const hits = steps.flatMap((step) => step.hits);
    const count = steps.reduce((sum, step) => sum + step.count, 0);
    this.walked += count;
    this.matched += hits.length;
    this.left -= count;
    this.hits = [...this.hits, ...hits].sort(newestFirst).slice(0, this.limit);
    // What is as old as the last match may still come before it.
    const earliest = Math.max(
      this.terms.since ?? -Infinity,
      this.hits[this.limit - 1]?.at ?? -Infinity,
    );
    this.open = steps.filter(({ count, reached }) => count === each && reached >= earliest);
  }

  private get expectedWalk(): number {
    const missing = Math.max(0, this.limit - this.hits.length);
    return Math.min(this.left, missing / this.density);
  }

  /** Matches a message: those of the walk, and the usual ones as if some had been walked through before. */
  private get density(): number {
    return Math.max(this.matched + PRIOR * this.usualDensity, 0.01) / (this.walked + PRIOR);
  }
}

function newestFirst(a: Hit, b: Hit): number {
  if (a.at !== b.at) return b.at - a.at;
  const [one, other] = [BigInt(a.seq), BigInt(b.seq)];
  return one === other ? 0 : one < other ? 1 : -1;
}
