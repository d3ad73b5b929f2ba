import { Controller } from '@nestjs/common';
import { Operation, Params } from '@relayger/kernel';
import { getIdentity, type Identity } from '@relayger/protocol';
import { IdentitiesService } from './identities.service.js';

@Controller()
export class IdentitiesController {
  constructor(private readonly identities: IdentitiesService) {}

  @Operation(getIdentity)
  async get(@Params() { address }: { address: string }): Promise<Identity> {
    const { disabledAt: _, role: __, ...identity } = await this.identities.resolveActive(address);
    return identity;
  }
}
