import { Controller } from '@nestjs/common';
import { Caller, Operation, type Principal, Rate, type RateState } from '@relayger/kernel';
import { getLimits, type Limits } from '@relayger/protocol';
import { UsageService } from './usage.service.js';

@Controller()
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Operation(getLimits)
  limits(@Caller() caller: Principal, @Rate() rate: RateState): Promise<Limits> {
    return this.usage.limits(caller, rate);
  }
}
