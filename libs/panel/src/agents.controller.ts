import { Controller } from '@nestjs/common';
import { Caller, Operation, type Principal } from '@relayger/kernel';
import { type KnownIdentity, listAgents } from '@relayger/protocol';
import { AgentsService } from './agents.service.js';

@Controller()
export class AgentsController {
  constructor(private readonly agents: AgentsService) {}

  @Operation(listAgents)
  list(@Caller() caller: Principal): Promise<KnownIdentity[]> {
    return this.agents.known(caller);
  }
}
