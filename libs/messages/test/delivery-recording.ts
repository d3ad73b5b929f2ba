import type { ApiReply } from '@relayger/kernel/testing';
import { LIVE_TYPES, type MailboxItem } from '@relayger/protocol';

// What an observer outside of the service can say about calls that overlap: each has an effect somewhere between its
// start and its end. The oracle of delivery.concurrent.test.ts.

/** Somewhere between `start` and `end`, in ms. */
interface Span {
  start: number;
  end: number;
}

interface Sent extends Span {
  who: number;
  room: string;
  /** Of the message, when it was stored. */
  id: string | null;
  seq: number;
}

interface Page extends Span {
  who: number;
  client: string;
  consume: boolean;
  items: MailboxItem[];
}

/** A message as the database has it in the end. */
export interface Stored {
  id: string;
  seq: number;
  room: string;
  from: number;
  type: string;
}

/** A time of being a member. Without an end it lasts. */
interface Episode {
  join: Span;
  leave: Span;
}

const ALWAYS: Span = { start: Number.NEGATIVE_INFINITY, end: Number.NEGATIVE_INFINITY };
const NEVER: Span = { start: Number.POSITIVE_INFINITY, end: Number.POSITIVE_INFINITY };
const isLive = ({ type }: Stored) => (LIVE_TYPES as readonly string[]).includes(type);

async function timed<T>(work: () => Promise<T>): Promise<[T, Span]> {
  const start = performance.now();
  const result = await work();
  return [result, { start, end: performance.now() }];
}

export class Recording {
  /** What can be seen to be wrong at once. */
  readonly wrong: string[] = [];
  private readonly sent: Sent[] = [];
  private readonly pages: Page[] = [];
  private readonly changes: ({ kind: 'join' | 'leave'; who: number; room: string } & Span)[] = [];
  private readonly cursors = new Map<string, bigint>();

  /** @param founders who is in which room from the beginning */
  constructor(private readonly founders: ReadonlyMap<string, readonly number[]>) {}

  /** Something that appends in the name of `who`: stored with 201, otherwise refused. */
  async append(
    who: number,
    room: string,
    call: () => Promise<ApiReply<unknown>>,
  ): Promise<string | null> {
    const [{ status, body }, span] = await timed(call);
    if (![201, 404, 409].includes(status)) this.wrong.push(`${who} was answered ${status}`);
    const { id = null, seq = 0 } = status === 201 ? (body as { id: string; seq: string }) : {};
    if (status !== 409) this.sent.push({ who, room, id, seq: Number(seq), ...span });
    return id;
  }

  /** Something that ends or begins a membership of `who`; most of it is refused or changes nothing. */
  async change(
    kind: 'join' | 'leave',
    who: number,
    room: string,
    call: () => Promise<ApiReply<unknown>>,
  ): Promise<void> {
    const [{ status }, span] = await timed(call);
    if (![200, 201, 403, 404, 409].includes(status)) this.wrong.push(`members: ${status}`);
    if (status === (kind === 'join' ? 201 : 200)) this.changes.push({ kind, who, room, ...span });
  }

  async page(
    who: number,
    client: string,
    consume: boolean,
    call: () => Promise<MailboxItem[]>,
  ): Promise<MailboxItem[]> {
    const [items, span] = await timed(call);
    this.pages.push({ who, client, consume, items, ...span });
    return items;
  }

  /** A cursor as one observer sees it, time after time. */
  cursor(observer: string, room: string, value: string): void {
    const key = `${observer} ${room}`;
    const before = this.cursors.get(key) ?? 0n;
    if (BigInt(value) < before) this.wrong.push(`${key}: back from ${before} to ${value}`);
    this.cursors.set(key, BigInt(value));
  }

  /** Everything that does not fit together with what the database has in the end. */
  problems(agents: readonly number[], stored: readonly Stored[]): string[] {
    return [
      ...this.wrong,
      ...this.lostAcknowledgements(stored),
      ...this.sendsOfOthers(),
      ...agents.flatMap((who) => [
        ...this.undelivered(who, stored),
        ...this.pagesOf(who).flatMap((page) => this.wrongPage(page, stored)),
      ]),
      ...this.repeated(),
    ];
  }

  /** Who is a member in the end, as far as the replies tell. */
  isMember(who: number, room: string): boolean {
    return this.episodes(who, room).some(({ leave }) => leave === NEVER);
  }

  private pagesOf(who: number): Page[] {
    return this.pages.filter((page) => page.who === who);
  }

  /**
   * The memberships in their order. Joins and leaves take turns, so the nth join took effect between the nth smallest
   * start and the nth smallest end of all joins, and so did the leaves.
   */
  private episodes(who: number, room: string): Episode[] {
    const spans = (kind: 'join' | 'leave'): Span[] => {
      const all = this.changes.filter((c) => c.kind === kind && c.who === who && c.room === room);
      const ends = all.map(({ end }) => end).sort((a, b) => a - b);
      const starts = all.map(({ start }) => start).sort((a, b) => a - b);
      return starts.map((start, n) => ({ start, end: ends[n] as number }));
    };
    const joins = spans('join');
    const leaves = spans('leave');
    if (this.founders.get(room)?.includes(who)) joins.unshift(ALWAYS);
    if (joins.length - leaves.length > 1 || joins.length < leaves.length)
      this.wrong.push(`${who} joined ${joins.length} times and left ${leaves.length} times`);
    return joins.map((join, n) => ({ join, leave: leaves[n] ?? NEVER }));
  }

  /** What was acknowledged is stored under its number. */
  private lostAcknowledgements(stored: readonly Stored[]): string[] {
    const byId = new Map(stored.map((one) => [one.id, one]));
    return this.sent.flatMap(({ id, room, seq, who }) => {
      const found = id === null ? null : byId.get(id);
      const right = found && found.room === room && found.seq === seq && found.from === who;
      return found === null || right ? [] : [`${id} was acknowledged as ${seq}`];
    });
  }

  /** Nothing of who certainly was no member is stored, and nothing of who certainly was one is refused. */
  private sendsOfOthers(): string[] {
    return this.sent.flatMap(({ who, room, id, start, end }) => {
      const episodes = this.episodes(who, room);
      const perhaps = episodes.some((e) => e.join.start <= end && e.leave.end >= start);
      const certainly = episodes.some((e) => e.join.end <= start && e.leave.start >= end);
      if (id !== null && !perhaps) return [`${id} was stored for ${who}, who was not there`];
      return id === null && certainly ? [`${who} was refused in ${room}`] : [];
    });
  }

  /** Whatever others said while `who` was certainly there, and stayed, was delivered. */
  private undelivered(who: number, stored: readonly Stored[]): string[] {
    const got = new Set(this.pagesOf(who).flatMap(({ items }) => items.map(({ id }) => id)));
    const sentAt = new Map(this.sent.map((one) => [one.id, one]));
    return stored.flatMap((one) => {
      if (isLive(one) || one.from === who || got.has(one.id)) return [];
      const stays = this.episodes(who, one.room).find(({ leave }) => leave === NEVER);
      const { start } = sentAt.get(one.id) ?? ALWAYS;
      return stays && stays.join.end < start ? [`${who} never got ${JSON.stringify(one)}`] : [];
    });
  }

  private wrongPage({ who, items, start, end }: Page, stored: readonly Stored[]): string[] {
    const problems: string[] = [];
    for (const room of new Set(items.map((item) => item.room))) {
      const page = items.filter((item) => item.room === room).map(({ seq }) => Number(seq));
      const [first = 0, last = 0] = [page[0], page.at(-1)];
      // A contiguous piece, in order, of what can wait for this agent: nothing own, nothing live, nothing left out.
      const waiting = stored
        .filter((one) => one.room === room && one.from !== who && !isLive(one))
        .map(({ seq }) => seq)
        .filter((seq) => seq >= first && seq <= last);
      if (page.join() !== waiting.join()) problems.push(`${who} got ${page}, not ${waiting}`);
    }
    const sentAt = new Map(this.sent.map((one) => [one.id, one]));
    for (const { id, room } of items) {
      const sent = sentAt.get(id);
      const possible = this.episodes(who, room).some(
        ({ join, leave }) =>
          // A member while it read, and already when the message was said.
          join.start <= end && leave.end >= start && (sent?.end ?? 0) >= join.start,
      );
      if (!possible) problems.push(`${who} got ${id} without being there`);
      if (!sent || sent.start > end) problems.push(`${who} got ${id} before it was sent`);
    }
    return problems;
  }

  /** What one client consumed does not come to it again, and reading never goes back. */
  private repeated(): string[] {
    const problems: string[] = [];
    const next = new Map<string, number>();
    for (const { client, consume, items } of this.pages) {
      for (const room of new Set(items.map((item) => item.room))) {
        const page = items.filter((item) => item.room === room).map(({ seq }) => Number(seq));
        const [first = 0, last = 0] = [page[0], page.at(-1)];
        const key = `${client} ${room}`;
        if (first < (next.get(key) ?? 0)) problems.push(`${key} went back to ${first}`);
        next.set(key, consume ? last + 1 : first);
      }
    }
    return problems;
  }
}
