import { Injectable } from '@nestjs/common';
import { OwnershipService } from '@relayger/identities';
import { Database } from '@relayger/kernel';
import { type ActivityPage, type ActivityQuery, LIMITS } from '@relayger/protocol';
import { type Feed, readCursor, writeCursor } from './activity-cursor.js';
import { toItem } from './activity-item.js';
import {
  type ActivityAsk,
  type Position,
  pageActivityBack,
  pageActivityOn,
} from './sql/page-activity.js';
import { readHorizonTime } from './sql/read-horizon.js';

/** Smaller than every record of this id, and every id. */
const FIRST = { id: '00000000-0000-0000-0000-000000000000', nth: '0' };
const BEGINNING: Position = { at: new Date(0), ...FIRST };

/**
 * What agents did, as one feed for their owner. It is read from where things are stored, and what an agent does under
 * another owner moves with it: whose it is, is asked on every page.
 */
@Injectable()
export class ActivityService {
  constructor(
    private readonly database: Database,
    private readonly ownership: OwnershipService,
  ) {}

  /** @throws RelaygerError `not_found` for an agent of somebody else, `invalid_request` for a foreign cursor */
  async page(ownerId: string, query: ActivityQuery): Promise<ActivityPage> {
    const { agentId = null, kind = null, limit = LIMITS.activityDefault } = query;
    const feed: Feed = { ownerId, agentId, kind };
    const before = query.before && readCursor(feed, query.before, 'query.before');
    const after = query.after && readCursor(feed, query.after, 'query.after');
    const agentIds = await this.agents(ownerId, agentId);
    // Asked before the page is read, see there.
    const horizon = await readHorizonTime(this.database);
    const ask = { agentIds, kind, limit };
    return after
      ? this.newer(feed, ask, after, horizon)
      : this.older(feed, ask, before || { at: horizon, ...FIRST }, before || BEGINNING);
  }

  private async newer(
    feed: Feed,
    ask: ActivityAsk,
    above: Position,
    horizon: Date,
  ): Promise<ActivityPage> {
    const rows = await pageActivityOn(this.database, ask, above, horizon);
    const newest = writeCursor(feed, rows.at(-1) ?? above);
    return { items: rows.map(toItem), nextCursor: newest, newestCursor: newest };
  }

  /** @param nothing the position that an empty page stands for */
  private async older(
    feed: Feed,
    { limit, ...ask }: ActivityAsk,
    below: Position,
    nothing: Position,
  ): Promise<ActivityPage> {
    // One more than asked tells whether there is a next page.
    const found = await pageActivityBack(this.database, { ...ask, limit: limit + 1 }, below);
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    return {
      items: rows.map(toItem),
      nextCursor: last && found.length > limit ? writeCursor(feed, last) : null,
      newestCursor: writeCursor(feed, rows[0] ?? nothing),
    };
  }

  private async agents(ownerId: string, agentId: string | null): Promise<string[]> {
    const owned = agentId
      ? [await this.ownership.get(this.database, ownerId, agentId)]
      : await this.ownership.list(ownerId);
    return owned.map(({ id }) => id);
  }
}
