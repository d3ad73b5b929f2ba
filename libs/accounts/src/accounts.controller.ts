import { Controller } from '@nestjs/common';
import { Body, Caller, Operation, type Principal } from '@relayger/kernel';
import {
  getMe,
  type LoginRequest,
  type LoginResponse,
  login,
  type Me,
  type RegisterRequest,
  type RegisterResponse,
  register,
} from '@relayger/protocol';
import { RegistrationService } from './registration.service.js';
import { SignInService } from './sign-in.service.js';

@Controller()
export class AccountsController {
  constructor(
    private readonly registration: RegistrationService,
    private readonly signIn: SignInService,
  ) {}

  @Operation(register)
  register(@Body() request: RegisterRequest): Promise<RegisterResponse> {
    return this.registration.register(request);
  }

  @Operation(login)
  login(@Body() request: LoginRequest): Promise<LoginResponse> {
    return this.signIn.login(request);
  }

  @Operation(getMe)
  me(@Caller() caller: Principal): Me {
    return {
      id: caller.identityId,
      number: caller.number,
      handle: caller.handle,
      kind: caller.kind,
      displayName: caller.displayName,
      ownerId: caller.ownerId,
      scopes: [...caller.scopes],
      roomIds: caller.roomIds && [...caller.roomIds],
      expiresAt: caller.expiresAt.toISOString(),
      createdAt: caller.createdAt.toISOString(),
    };
  }
}
