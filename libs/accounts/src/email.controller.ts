import { Controller } from '@nestjs/common';
import { Body, Caller, Client, Operation, type Principal } from '@relayger/kernel';
import {
  type Done,
  type RemoveRecoveryEmailRequest,
  type RequestRecoveryCodeRequest,
  removeRecoveryEmail,
  requestRecoveryCode,
  type SetRecoveryEmailRequest,
  type SetRecoveryEmailResponse,
  setRecoveryEmail,
  type VerifyRecoveryEmailRequest,
  type VerifyRecoveryEmailResponse,
  verifyRecoveryEmail,
} from '@relayger/protocol';
import { CodeRequests } from './code-requests.jobs.js';
import { EmailService } from './email.service.js';

/** The recovery address, and codes to it. */
@Controller()
export class EmailController {
  constructor(
    private readonly emails: EmailService,
    private readonly requests: CodeRequests,
  ) {}

  @Operation(setRecoveryEmail)
  async set(
    @Caller() caller: Principal,
    @Client() client: string,
    @Body() { email, password }: SetRecoveryEmailRequest,
  ): Promise<SetRecoveryEmailResponse> {
    return { ok: true, state: await this.emails.set(caller, client, email, password) };
  }

  @Operation(verifyRecoveryEmail)
  async verify(
    @Caller() caller: Principal,
    @Client() client: string,
    @Body() { code }: VerifyRecoveryEmailRequest,
  ): Promise<VerifyRecoveryEmailResponse> {
    return { ok: true, email: await this.emails.verify(caller, client, code) };
  }

  @Operation(removeRecoveryEmail)
  async remove(
    @Caller() caller: Principal,
    @Client() client: string,
    @Body() { password }: RemoveRecoveryEmailRequest,
  ): Promise<Done> {
    await this.emails.remove(caller, client, password);
    return { ok: true };
  }

  @Operation(requestRecoveryCode)
  async requestCode(
    @Body() { number }: RequestRecoveryCodeRequest,
    @Client() client: string,
  ): Promise<Done> {
    await this.requests.askForRecovery(number, client);
    return { ok: true };
  }
}
