import { Controller } from '@nestjs/common';
import { Body, Caller, isAdmin, Operation, Params, type Principal, Query } from '@relayger/kernel';
import {
  type AdminTokenPage,
  failField,
  type IssuedToken,
  type IssueTokenRequest,
  issueToken,
  listTokens,
  revokeToken,
} from '@relayger/protocol';
import { adminActor, requireAdmin } from './actor.js';
import { OperatorTokensService } from './operator-tokens.service.js';
import { OwnTokensService } from './own-tokens.service.js';

/** Everybody's tokens for administrators, and a person's own ones. */
@Controller()
export class TokensController {
  constructor(
    private readonly tokens: OperatorTokensService,
    private readonly own: OwnTokensService,
  ) {}

  @Operation(listTokens)
  list(
    @Caller() caller: Principal,
    @Query() query: { identityId?: string; before?: string; limit?: number },
  ): Promise<AdminTokenPage> {
    requireAdmin(caller);
    return this.tokens.page(query);
  }

  @Operation(issueToken)
  issue(@Caller() caller: Principal, @Body() request: IssueTokenRequest): Promise<IssuedToken> {
    if (!isAdmin(caller)) return this.own.rotate(caller, request);
    const { identityId, scopes, roomIds, expiresIn, rotate, reason } = request;
    const actor = adminActor(caller, reason);
    if (rotate !== undefined) {
      if (identityId !== undefined) failField('body.identityId', 'must be left out with rotate');
      // An administrator always shows a token: web sessions have no such scope.
      const tokenId = rotate === 'current' ? (caller.tokenId as string) : rotate;
      return this.tokens.rotate(actor, tokenId, { scopes, roomIds, expiresIn });
    }
    if (identityId === undefined) failField('body.identityId', 'is required (string)');
    if (scopes === undefined) failField('body.scopes', 'is required (array)');
    return this.tokens.issue(actor, identityId, { scopes, roomIds, expiresIn });
  }

  @Operation(revokeToken)
  async revoke(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() { reason }: { reason?: string } = {},
  ): Promise<{ ok: true }> {
    if (isAdmin(caller)) await this.tokens.revoke(adminActor(caller, reason), id);
    else await this.own.revoke(caller, id, reason);
    return { ok: true };
  }
}
