import { Injectable } from '@nestjs/common';
import { IssuedTokensService } from '@relayger/accounts';
import { OwnershipService } from '@relayger/identities';
import { Database, recordAudit } from '@relayger/kernel';
import {
  fail,
  type IssueAgentTokenRequest,
  type IssuedToken,
  LIMITS,
  type TokenInfo,
} from '@relayger/protocol';
import { RoomsService } from '@relayger/rooms';

const DEFAULT_LIFETIME = LIMITS.tokenDays * 86_400;

/** Tokens that an owner issues to an agent. The schema has made sure that they carry agent scopes only. */
@Injectable()
export class AgentTokensService {
  constructor(
    private readonly database: Database,
    private readonly ownership: OwnershipService,
    private readonly tokens: IssuedTokensService,
    private readonly rooms: RoomsService,
  ) {}

  /** @throws RelaygerError `not_found` */
  async list(ownerId: string, agentId: string): Promise<TokenInfo[]> {
    await this.ownership.get(this.database, ownerId, agentId);
    return this.tokens.list(agentId);
  }

  /** @throws RelaygerError `not_found`, `invalid_request`, `identity_disabled`, `token_limit` */
  issue(ownerId: string, agentId: string, request: IssueAgentTokenRequest): Promise<IssuedToken> {
    const { scopes, roomIds = null, expiresIn = DEFAULT_LIFETIME } = request;
    return this.database.transaction(async (sql) => {
      await this.ownership.get(sql, ownerId, agentId);
      if (roomIds) await this.rooms.requireJoined(sql, agentId, roomIds);
      const issued = await this.tokens.issue(sql, agentId, { scopes, roomIds, expiresIn });
      await recordAudit(sql, {
        actorId: ownerId,
        action: 'token.issue',
        subjectId: agentId,
        tokenId: issued.id,
        details: { scopes, rooms: roomIds, expiresAt: issued.expiresAt },
      });
      return issued;
    });
  }

  /** @throws RelaygerError `not_found` */
  async revoke(ownerId: string, agentId: string, tokenId: string): Promise<void> {
    await this.database.transaction(async (sql) => {
      await this.ownership.get(sql, ownerId, agentId);
      if (!(await this.tokens.revoke(sql, agentId, tokenId))) fail('not_found');
      const entry = { action: 'token.revoke', subjectId: agentId, tokenId } as const;
      await recordAudit(sql, { actorId: ownerId, ...entry });
    });
  }
}
