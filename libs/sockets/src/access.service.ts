import { Injectable } from '@nestjs/common';
import { Authenticator, Batcher, type Principal } from '@relayger/kernel';
import { RoomsService } from '@relayger/rooms';

interface Reader {
  identityId: string;
  roomId: string;
}

/**
 * Whether those who were let in may still be here. Scopes and rooms of a token never change, so it is enough that it
 * is still open. All sockets that one message wakes ask together.
 */
@Injectable()
export class AccessService {
  private readonly tokens: Batcher<string, boolean>;
  private readonly readers: Batcher<Reader, boolean>;

  constructor(authenticator: Authenticator, rooms: RoomsService) {
    this.tokens = new Batcher({
      run: async (ids) => {
        const open = await authenticator.stillOpen(ids);
        return ids.map((id) => open.has(id));
      },
      maxItems: 1024,
      maxRuns: 2,
    });
    this.readers = new Batcher({
      run: (readers) => rooms.readable(readers),
      maxItems: 1024,
      maxRuns: 2,
    });
  }

  /** Whether the token is neither expired nor revoked, and its identity not disabled. */
  isOpen({ tokenId }: Principal): Promise<boolean> {
    if (tokenId === null) throw new Error('sockets are opened with tokens');
    return this.tokens.do(tokenId);
  }

  /** As `isOpen`, and whether the room may still be read. The token's room list was looked at in the handshake. */
  async mayRead(caller: Principal, roomId: string): Promise<boolean> {
    const { identityId } = caller;
    const [open, member] = await Promise.all([
      this.isOpen(caller),
      this.readers.do({ identityId, roomId }),
    ]);
    return open && member;
  }
}
