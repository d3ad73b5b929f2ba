import { Controller } from '@nestjs/common';
import { Body, Client, Operation } from '@relayger/kernel';
import {
  type Done,
  type EmailSignInRequest,
  type EmailSignInResponse,
  type SendSignInCodeRequest,
  sendSignInCode,
  signInByEmail,
} from '@relayger/protocol';
import { CodeRequests } from './code-requests.jobs.js';
import { EmailSignInService } from './email-sign-in.service.js';

/** How people get in with a mailed code. */
@Controller()
export class EmailSignInController {
  constructor(
    private readonly requests: CodeRequests,
    private readonly emails: EmailSignInService,
  ) {}

  @Operation(sendSignInCode)
  async send(@Body() { email }: SendSignInCodeRequest, @Client() client: string): Promise<Done> {
    await this.requests.askForSignIn(email, client);
    return { ok: true };
  }

  @Operation(signInByEmail)
  signIn(
    @Body() request: EmailSignInRequest,
    @Client() client: string,
  ): Promise<EmailSignInResponse> {
    return this.emails.signIn(request, client);
  }
}
