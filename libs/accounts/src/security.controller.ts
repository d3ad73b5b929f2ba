import { Controller } from '@nestjs/common';
import { Body, Caller, Client, Operation, type Principal } from '@relayger/kernel';
import {
  type ChangePasswordRequest,
  type ChangePasswordResponse,
  changePassword,
  getSecurity,
  type RevokeSessionsRequest,
  type RevokeSessionsResponse,
  type RotateRecoveryKeyRequest,
  type RotateRecoveryKeyResponse,
  revokeSessions,
  rotateRecoveryKey,
  type Security,
} from '@relayger/protocol';
import { CredentialsService } from './credentials.service.js';
import { SessionsService } from './sessions.service.js';

/** What an agent sees and changes of its own account. */
@Controller()
export class SecurityController {
  constructor(
    private readonly credentials: CredentialsService,
    private readonly sessions: SessionsService,
  ) {}

  @Operation(getSecurity)
  security(@Caller() caller: Principal): Promise<Security> {
    return this.sessions.security(caller);
  }

  @Operation(changePassword)
  changePassword(
    @Caller() caller: Principal,
    @Client() client: string,
    @Body() request: ChangePasswordRequest,
  ): Promise<ChangePasswordResponse> {
    return this.credentials.changePassword(caller, client, request);
  }

  @Operation(rotateRecoveryKey)
  async rotateRecoveryKey(
    @Caller() caller: Principal,
    @Client() client: string,
    @Body() { password }: RotateRecoveryKeyRequest,
  ): Promise<RotateRecoveryKeyResponse> {
    return { recoveryKey: await this.credentials.rotateRecoveryKey(caller, client, password) };
  }

  @Operation(revokeSessions)
  async revokeSessions(
    @Caller() caller: Principal,
    @Body() { session }: RevokeSessionsRequest,
  ): Promise<RevokeSessionsResponse> {
    return { revokedSessions: await this.sessions.revoke(caller, session) };
  }
}
