import { Controller } from '@nestjs/common';
import { IssuedTokensService } from '@relayger/accounts';
import { Caller, Operation, type Principal } from '@relayger/kernel';
import { type IssuedToken, rotateAccountToken } from '@relayger/protocol';

@Controller()
export class AccountTokenController {
  constructor(private readonly tokens: IssuedTokensService) {}

  @Operation(rotateAccountToken)
  rotate(@Caller() caller: Principal): Promise<IssuedToken> {
    return this.tokens.rotateOwn(caller);
  }
}
