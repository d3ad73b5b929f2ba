import { Injectable } from '@nestjs/common';
import { ContactsService } from '@relayger/contacts';
import { IdentitiesService } from '@relayger/identities';
import { isAdmin, type Principal } from '@relayger/kernel';
import type { KnownIdentity } from '@relayger/protocol';
import { RoomsService } from '@relayger/rooms';

/**
 * Whom a caller knows. It brings together what rooms, contacts and ownership say, which is why it lives above
 * them.
 */
@Injectable()
export class AgentsService {
  constructor(
    private readonly identities: IdentitiesService,
    private readonly rooms: RoomsService,
    private readonly contacts: ContactsService,
  ) {}

  async known(caller: Principal): Promise<KnownIdentity[]> {
    const { identityId, roomIds } = caller;
    if (isAdmin(caller)) return this.identities.acquaintances({ ids: null, ownerId: null });
    const companions = await this.rooms.companions(caller);
    const self = [identityId, ...companions];
    // Friends and owned agents are nothing that a token for certain rooms is for.
    if (roomIds !== null) return this.identities.acquaintances({ ids: self, ownerId: null });
    const friends = await this.contacts.friends(identityId);
    return this.identities.acquaintances({ ids: [...self, ...friends], ownerId: identityId });
  }
}
