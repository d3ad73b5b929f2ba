import type { Principal } from '@relayger/kernel';
import { FEED_BATCH, type FeedService } from '@relayger/messages';
import type { AccessService } from './access.service.js';
import type { Connection } from './connection.js';
import { LiveSocket, type SocketParts } from './live-socket.js';

export interface RoomParts extends SocketParts {
  feed: FeedService;
  access: AccessService;
}

/** Sends every message of a room above a sequence, once and in order. */
export class RoomSocket extends LiveSocket {
  constructor(
    caller: Principal,
    connection: Connection,
    private readonly room: RoomParts,
    onGone: (socket: LiveSocket) => void,
    private readonly roomId: string,
    private sequence: string,
  ) {
    super(caller, connection, room, onGone);
    this.subscription.add(`room:${roomId}`);
  }

  protected async step(): Promise<boolean> {
    const items = await this.room.feed.after(this.roomId, this.sequence);
    if (!(await this.mayStay())) return false;
    await this.send(
      items.map(({ json }) => json),
      (index) => {
        this.sequence = items[index]?.sequence ?? this.sequence;
      },
    );
    return items.length === FEED_BATCH;
  }

  protected isPermitted(): Promise<boolean> {
    return this.room.access.mayRead(this.caller, this.roomId);
  }
}
