import { Controller } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal } from '@relayger/kernel';
import {
  type CreateOwnedAgentRequest,
  createOwnedAgent,
  disableOwnedAgent,
  enableOwnedAgent,
  listOwnedAgents,
  type OwnedAgent,
  type UpdateProfileRequest,
  updateOwnedAgent,
} from '@relayger/protocol';
import { OwnedAgentsService } from './owned-agents.service.js';

@Controller()
export class OwnedAgentsController {
  constructor(private readonly agents: OwnedAgentsService) {}

  @Operation(listOwnedAgents)
  list(@Caller() caller: Principal): Promise<OwnedAgent[]> {
    return this.agents.list(caller.identityId);
  }

  @Operation(createOwnedAgent)
  create(
    @Caller() caller: Principal,
    @Body() request: CreateOwnedAgentRequest,
  ): Promise<OwnedAgent> {
    return this.agents.create(caller.identityId, request);
  }

  @Operation(updateOwnedAgent)
  update(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() changes: UpdateProfileRequest,
  ): Promise<OwnedAgent> {
    return this.agents.update(caller.identityId, id, changes);
  }

  @Operation(disableOwnedAgent)
  disable(@Caller() caller: Principal, @Params() { id }: { id: string }): Promise<OwnedAgent> {
    return this.agents.disable(caller.identityId, id);
  }

  @Operation(enableOwnedAgent)
  enable(@Caller() caller: Principal, @Params() { id }: { id: string }): Promise<OwnedAgent> {
    return this.agents.enable(caller.identityId, id);
  }
}
