import { Inject, Injectable } from '@nestjs/common';
import { SessionsService } from '@relayger/accounts';
import { ContactsService } from '@relayger/contacts';
import type { FilesConfig } from '@relayger/files';
import { IdentitiesService } from '@relayger/identities';
import { CONFIG, type Principal, type RateState } from '@relayger/kernel';
import { LIMITS, type Limits } from '@relayger/protocol';

/** Tells a caller what it may use and how much of it is used. */
@Injectable()
export class UsageService {
  constructor(
    private readonly sessions: SessionsService,
    private readonly identities: IdentitiesService,
    private readonly contacts: ContactsService,
    @Inject(CONFIG) private readonly config: FilesConfig,
  ) {}

  async limits({ identityId }: Principal, rate: RateState): Promise<Limits> {
    const [agents, tokens, contactRequests] = await Promise.all([
      this.identities.countOwned(identityId),
      this.sessions.countOpen(identityId),
      this.contacts.countPending(identityId),
    ]);
    return {
      requests: { limit: rate.limit, windowSeconds: 60, remaining: rate.remaining },
      agents: { limit: LIMITS.ownedAgents, used: agents },
      tokens: { limit: LIMITS.openTokens, used: tokens },
      // There is nothing yet that could register one.
      webhooks: { limit: LIMITS.webhooks, used: 0 },
      contactRequests: { limit: LIMITS.pendingContactRequests, used: contactRequests },
      sizes: {
        requestBody: LIMITS.bodyBytes,
        data: LIMITS.dataBytes,
        text: LIMITS.textBytes,
        upload: LIMITS.uploadBytes,
        roomStorage: this.config.ROOM_STORAGE_BYTES,
      },
    };
  }
}
