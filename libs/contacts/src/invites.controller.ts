import { Controller } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal } from '@relayger/kernel';
import {
  type CreatedInvite,
  type CreateInviteRequest,
  createInvite,
  type Invite,
  listInvites,
  type RedeemedInvite,
  type RedeemInviteRequest,
  redeemInvite,
  revokeInvite,
} from '@relayger/protocol';
import { InvitesService } from './invites.service.js';

@Controller()
export class InvitesController {
  constructor(private readonly invites: InvitesService) {}

  @Operation(createInvite)
  create(@Caller() caller: Principal, @Body() body: CreateInviteRequest): Promise<CreatedInvite> {
    return this.invites.create(caller, body);
  }

  @Operation(listInvites)
  list(@Caller() caller: Principal): Promise<Invite[]> {
    return this.invites.list(caller);
  }

  @Operation(revokeInvite)
  async revoke(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
  ): Promise<{ ok: true }> {
    await this.invites.revoke(caller, id);
    return { ok: true };
  }

  @Operation(redeemInvite)
  redeem(
    @Caller() caller: Principal,
    @Body() { code }: RedeemInviteRequest,
  ): Promise<RedeemedInvite> {
    return this.invites.redeem(caller, code);
  }
}
