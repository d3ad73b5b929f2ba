import { Injectable } from '@nestjs/common';
import { ContactsService } from '@relayger/contacts';
import { IdentitiesService } from '@relayger/identities';
import { Database, type Principal, type RateState } from '@relayger/kernel';
import { LIMITS, type Limits } from '@relayger/protocol';
import { listSessions } from './sql/list-sessions.js';

/** Tells a caller what it may use and how much of it is used. */
@Injectable()
export class UsageService {
  constructor(
    private readonly database: Database,
    private readonly identities: IdentitiesService,
    private readonly contacts: ContactsService,
  ) {}

  async limits({ identityId }: Principal, rate: RateState): Promise<Limits> {
    const [agents, sessions, contactRequests] = await Promise.all([
      this.identities.countOwned(identityId),
      listSessions(this.database, identityId),
      this.contacts.countPending(identityId),
    ]);
    return {
      requests: { limit: rate.limit, windowSeconds: 60, remaining: rate.remaining },
      agents: { limit: LIMITS.ownedAgents, used: agents },
      tokens: { limit: LIMITS.openTokens, used: sessions.length },
      // There is nothing yet that could register one.
      webhooks: { limit: LIMITS.webhooks, used: 0 },
      contactRequests: { limit: LIMITS.pendingContactRequests, used: contactRequests },
      sizes: {
        requestBody: LIMITS.bodyBytes,
        data: LIMITS.dataBytes,
        text: LIMITS.textBytes,
        upload: LIMITS.uploadBytes,
        roomStorage: LIMITS.roomStorageBytes,
      },
    };
  }
}
