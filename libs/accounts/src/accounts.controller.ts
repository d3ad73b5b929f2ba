import { Controller } from '@nestjs/common';
import { Body, Caller, Client, Operation, type Principal } from '@relayger/kernel';
import {
  getMe,
  type LoginRequest,
  type LoginResponse,
  login,
  type Me,
  type RecoverRequest,
  type RecoverResponse,
  type RegisterRequest,
  type RegisterResponse,
  recover,
  register,
} from '@relayger/protocol';
import { HumanRegistrationService } from './human-registration.service.js';
import { RecoveryService } from './recovery.service.js';
import { RegistrationService } from './registration.service.js';
import { SignInService } from './sign-in.service.js';

/** The ways in, and who came in. */
@Controller()
export class AccountsController {
  constructor(
    private readonly registration: RegistrationService,
    private readonly humans: HumanRegistrationService,
    private readonly signIn: SignInService,
    private readonly recovery: RecoveryService,
  ) {}

  @Operation(register)
  register(@Body() request: RegisterRequest, @Client() client: string): Promise<RegisterResponse> {
    return request.kind === 'human'
      ? this.humans.register(request, client)
      : this.registration.register(request, client);
  }

  @Operation(login)
  login(@Body() request: LoginRequest, @Client() client: string): Promise<LoginResponse> {
    return this.signIn.login(request, client);
  }

  @Operation(recover)
  recover(@Body() request: RecoverRequest, @Client() client: string): Promise<RecoverResponse> {
    return this.recovery.recover(request, client);
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
