import { Controller } from '@nestjs/common';
import { Body, Caller, Operation, type Principal } from '@relayger/kernel';
import {
  type ClaimAgentRequest,
  claimAgent,
  createOwnershipCode,
  type OwnedAgent,
  type OwnershipCode,
} from '@relayger/protocol';
import { OwnershipCodesService } from './ownership-codes.service.js';

@Controller()
export class OwnershipCodesController {
  constructor(private readonly codes: OwnershipCodesService) {}

  @Operation(createOwnershipCode)
  create(@Caller() caller: Principal): Promise<OwnershipCode> {
    return this.codes.create(caller);
  }

  @Operation(claimAgent)
  claim(@Caller() caller: Principal, @Body() { code }: ClaimAgentRequest): Promise<OwnedAgent> {
    return this.codes.claim(caller, code);
  }
}
