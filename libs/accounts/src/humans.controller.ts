import { Controller, Res } from '@nestjs/common';
import {
  Body,
  Caller,
  Client,
  Operation,
  type Principal,
  ServiceAddress,
  sessionCookie,
} from '@relayger/kernel';
import {
  changeHumanPassword,
  type HumanLoginRequest,
  type HumanPasswordRequest,
  type HumanRecoverRequest,
  humanLogin,
  type NewRecoveryKey,
  recoverHuman,
  type WebSession,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { HumanCredentialsService } from './human-credentials.service.js';
import { HumanSignInService } from './human-sign-in.service.js';
import { describeSession } from './web-sessions.service.js';

/** How people get in with a password, and back in without. */
@Controller()
export class HumansController {
  constructor(
    private readonly signIn: HumanSignInService,
    private readonly credentials: HumanCredentialsService,
    private readonly address: ServiceAddress,
  ) {}

  @Operation(humanLogin)
  async login(
    @Body() request: HumanLoginRequest,
    @Client() client: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebSession> {
    const { account, opened } = await this.signIn.login(request, client);
    reply.header('set-cookie', sessionCookie(this.address.origin, opened.secret, opened.expiresAt));
    return describeSession(account, opened);
  }

  @Operation(changeHumanPassword)
  async changePassword(
    @Caller() caller: Principal,
    @Client() client: string,
    @Body() request: HumanPasswordRequest,
  ): Promise<NewRecoveryKey> {
    return { recoveryKey: await this.credentials.changePassword(caller, client, request) };
  }

  @Operation(recoverHuman)
  async recover(
    @Body() request: HumanRecoverRequest,
    @Client() client: string,
  ): Promise<NewRecoveryKey> {
    return { recoveryKey: await this.credentials.recover(request, client) };
  }
}
