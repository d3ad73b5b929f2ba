import { Controller } from '@nestjs/common';
import { Operation, Params } from '@relayger/kernel';
import { type AgentSignals, getSignals } from '@relayger/protocol';
import { SignalsService } from './signals.service.js';

@Controller()
export class SignalsController {
  constructor(private readonly signals: SignalsService) {}

  @Operation(getSignals)
  get(@Params() { address }: { address: string }): Promise<AgentSignals> {
    return this.signals.of(address);
  }
}
