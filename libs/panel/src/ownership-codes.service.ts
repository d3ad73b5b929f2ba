import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AccountLifecycle } from '@relayger/accounts';
import { OwnershipService } from '@relayger/identities';
import { Database, hasScope, type Principal, recordAudit } from '@relayger/kernel';
import { AGENT_SCOPES, fail, type OwnedAgent, type OwnershipCode } from '@relayger/protocol';
import { OwnedAgentsService } from './owned-agents.service.js';
import { putOwnershipCode } from './sql/put-ownership-code.js';
import { takeOwnershipCode } from './sql/take-ownership-code.js';

/**
 * How an agent that registered itself gets an owner: it makes a code with its own credential, and a person redeems
 * it. Both have agreed, and neither can do it for the other.
 */
@Injectable()
export class OwnershipCodesService {
  constructor(
    private readonly database: Database,
    private readonly ownership: OwnershipService,
    private readonly agents: OwnedAgentsService,
    private readonly accounts: AccountLifecycle,
  ) {}

  /**
   * Makes the one code of the agent that works, for 15 minutes.
   * @throws RelaygerError `agent_only`, `full_agent_token_required`, `already_owned`
   */
  async create(caller: Principal): Promise<OwnershipCode> {
    if (caller.kind !== 'agent') fail('agent_only');
    // An owner can issue itself every token of the agent: a narrow one must not be able to bring that about.
    if (!AGENT_SCOPES.every((scope) => hasScope(caller, scope))) fail('full_agent_token_required');
    // Otherwise whoever steals a token could take the agent away from its owner.
    if (caller.ownerId !== null) fail('already_owned');
    // 32 random bytes: a code cannot be guessed, so its plain hash is safe to store.
    const code = `rlo_${randomBytes(32).toString('base64url')}`;
    if (caller.tokenId === null) throw new Error('agents have no web sessions');
    const expiresAt = await putOwnershipCode(
      this.database,
      caller.identityId,
      caller.tokenId,
      hashCode(code),
    );
    return { code, expiresAt: expiresAt.toISOString() };
  }

  /**
   * Makes the caller the owner of the agent that made the code.
   * @throws RelaygerError `secured_account_required`, `ownership_code_not_found`, `agent_limit`
   */
  async claim({ identityId }: Principal, code: string): Promise<OwnedAgent> {
    const agentId = await this.database.transaction(async (sql) => {
      // Anybody may hold a token of a person; an address that was only typed in proves nothing either.
      if (!(await this.accounts.isSecured(sql, identityId))) fail('secured_account_required');
      const agent = await takeOwnershipCode(sql, hashCode(code));
      if (!agent || !(await this.ownership.adopt(sql, identityId, agent))) {
        fail('ownership_code_not_found');
      }
      const entry = { action: 'identity.claim', subjectId: agent } as const;
      await recordAudit(sql, { actorId: identityId, ...entry });
      return agent;
    });
    return this.agents.show(identityId, agentId);
  }
}

function hashCode(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
