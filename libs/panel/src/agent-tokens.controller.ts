import { Controller } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal } from '@relayger/kernel';
import {
  type IssueAgentTokenRequest,
  type IssuedToken,
  issueAgentToken,
  listAgentTokens,
  revokeAgentToken,
  type TokenInfo,
} from '@relayger/protocol';
import { AgentTokensService } from './agent-tokens.service.js';

@Controller()
export class AgentTokensController {
  constructor(private readonly tokens: AgentTokensService) {}

  @Operation(listAgentTokens)
  list(@Caller() caller: Principal, @Params() { id }: { id: string }): Promise<TokenInfo[]> {
    return this.tokens.list(caller.identityId, id);
  }

  @Operation(issueAgentToken)
  issue(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() request: IssueAgentTokenRequest,
  ): Promise<IssuedToken> {
    return this.tokens.issue(caller.identityId, id, request);
  }

  @Operation(revokeAgentToken)
  async revoke(
    @Caller() caller: Principal,
    @Params() { id, tokenId }: { id: string; tokenId: string },
  ): Promise<{ ok: true }> {
    await this.tokens.revoke(caller.identityId, id, tokenId);
    return { ok: true };
  }
}
