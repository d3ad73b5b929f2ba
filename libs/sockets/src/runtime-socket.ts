import type { Principal } from '@relayger/kernel';
import type { Inbox } from '@relayger/messages';
import type { RuntimeSignal } from '@relayger/protocol';
import type { Connection } from './connection.js';
import { LiveSocket } from './live-socket.js';
import type { RoomParts } from './room-socket.js';

const SIGNAL = Buffer.from(JSON.stringify({ event: 'inbox_changed' } satisfies RuntimeSignal));
/** Changes within this time are one signal, and signals are at least this far apart; in ms. */
const GATHER_MS = 25;
const APART_MS = 200;

/** Tells an agent's worker that it should look into its inbox, and nothing else. */
export class RuntimeSocket extends LiveSocket {
  private readonly sequences: Map<string, string>;
  private contactRequests: number;
  private readonly woken = new Set<string>();
  /** The whole inbox is to be compared, not only the rooms that were woken. */
  private whole = true;
  /** A signal is due. */
  private changed = false;
  private gathering: NodeJS.Timeout | null = null;
  private signalledAt = -APART_MS;

  /** @param inbox as it was before the client was told that the socket is open; whatever comes after it is told */
  constructor(
    caller: Principal,
    connection: Connection,
    private readonly tools: RoomParts,
    onGone: (socket: LiveSocket) => void,
    private readonly runtimeId: string,
    { rooms, contactRequests }: Inbox,
  ) {
    super(caller, connection, tools, onGone);
    this.sequences = new Map(rooms);
    this.contactRequests = contactRequests;
    this.subscription.add(`runtime:${runtimeId}`);
    for (const room of rooms.keys()) this.subscription.add(`room:${room}`);
  }

  override onWake(topic?: string): void {
    if (topic?.startsWith('room:')) {
      this.woken.add(topic.slice('room:'.length));
      this.lookLater();
    } else if (topic === `runtime:${this.runtimeId}`) {
      this.changed = true;
      this.lookLater();
    } else {
      // A token that has ended, or a membership, does not wait for what else may come.
      this.whole = true;
      super.onWake(topic);
    }
  }

  protected async step(): Promise<boolean> {
    if (this.whole) await this.compare();
    if (this.woken.size > 0) await this.hear();
    if (!(await this.mayStay()) || !this.changed) return false;
    if (performance.now() < this.signalledAt + APART_MS) {
      this.lookLater();
      return false;
    }
    this.changed = false;
    this.signalledAt = performance.now();
    await this.send([SIGNAL]);
    return false;
  }

  protected isPermitted(): Promise<boolean> {
    return this.tools.access.isOpen(this.caller);
  }

  private lookLater(): void {
    const wait = Math.max(GATHER_MS, this.signalledAt + APART_MS - performance.now());
    this.gathering ??= setTimeout(() => {
      this.gathering = null;
      this.look();
    }, wait);
  }

  protected override stop(): void {
    super.stop();
    if (this.gathering) clearTimeout(this.gathering);
  }

  /** Compares rooms and requests with what is known, and hears those rooms where something was said. */
  private async compare(): Promise<void> {
    this.whole = false;
    try {
      const { rooms, contactRequests } = await this.tools.feed.inbox(this.caller);
      if (contactRequests !== this.contactRequests) this.changed = true;
      this.contactRequests = contactRequests;
      for (const room of [...this.sequences.keys()]) {
        if (rooms.has(room)) continue;
        this.changed = true;
        this.sequences.delete(room);
        this.subscription.remove(`room:${room}`);
      }
      for (const [room, sequence] of rooms) {
        const known = this.sequences.get(room);
        if (known === undefined) {
          this.changed = true;
          this.sequences.set(room, sequence);
          this.subscription.add(`room:${room}`);
        }
        // Also a new one: something may have been said there before anybody here listened.
        if (known !== sequence) this.woken.add(room);
      }
    } catch (error) {
      this.whole = true;
      throw error;
    }
  }

  private async hear(): Promise<void> {
    const rooms = [...this.woken];
    this.woken.clear();
    try {
      await Promise.all(rooms.map((room) => this.hearRoom(room)));
    } catch (error) {
      for (const room of rooms) this.woken.add(room);
      throw error;
    }
  }

  private async hearRoom(room: string): Promise<void> {
    const known = this.sequences.get(room);
    if (known === undefined) return;
    const { identityId } = this.caller;
    const { sequence, arrived } = await this.tools.feed.arrival(identityId, room, known);
    this.sequences.set(room, sequence);
    if (arrived) this.changed = true;
  }
}
