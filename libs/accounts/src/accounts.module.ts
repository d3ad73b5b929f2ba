import { Global, Module } from '@nestjs/common';
import { IdentitiesModule } from '@relayger/identities';
import { Authenticator } from '@relayger/kernel';
import { AccountLifecycle } from './account-lifecycle.service.js';
import { AccountsController } from './accounts.controller.js';
import { AccountsSweep } from './accounts.sweep.js';
import { AttemptsService } from './attempts.service.js';
import { CredentialAuthenticator } from './authenticator.service.js';
import { CodeRequests } from './code-requests.jobs.js';
import { CredentialsService } from './credentials.service.js';
import { EmailController } from './email.controller.js';
import { EmailService } from './email.service.js';
import { EmailCodesService } from './email-codes.service.js';
import { EmailSignInController } from './email-sign-in.controller.js';
import { EmailSignInService } from './email-sign-in.service.js';
import { Endings } from './endings.service.js';
import { HumanCredentialsService } from './human-credentials.service.js';
import { HumanRegistrationService } from './human-registration.service.js';
import { HumanSignInService } from './human-sign-in.service.js';
import { HumansController } from './humans.controller.js';
import { IssuedTokensService } from './issued-tokens.service.js';
import { OwnerProofService } from './owner-proof.service.js';
import { PasswordsService } from './passwords.service.js';
import { RecoveryService } from './recovery.service.js';
import { RegistrationService } from './registration.service.js';
import { RegistrationLimits } from './registration-limits.service.js';
import { SecurityController } from './security.controller.js';
import { SecurityNotices } from './security-notices.service.js';
import { SessionsService } from './sessions.service.js';
import { SignInService } from './sign-in.service.js';
import { TokensService } from './tokens.service.js';
import { VerifiedEmailsService } from './verified-emails.service.js';
import { WebSessionsController } from './web-sessions.controller.js';
import { WebSessionsService } from './web-sessions.service.js';

/** Global, because the kernel's guard asks every application for an Authenticator. */
@Global()
@Module({
  imports: [IdentitiesModule],
  controllers: [
    AccountsController,
    EmailController,
    EmailSignInController,
    HumansController,
    SecurityController,
    WebSessionsController,
  ],
  providers: [
    AccountLifecycle,
    AccountsSweep,
    AttemptsService,
    CodeRequests,
    CredentialsService,
    EmailCodesService,
    EmailService,
    EmailSignInService,
    Endings,
    HumanCredentialsService,
    HumanRegistrationService,
    HumanSignInService,
    IssuedTokensService,
    OwnerProofService,
    PasswordsService,
    RecoveryService,
    RegistrationLimits,
    RegistrationService,
    SecurityNotices,
    SessionsService,
    SignInService,
    TokensService,
    VerifiedEmailsService,
    WebSessionsService,
    { provide: Authenticator, useClass: CredentialAuthenticator },
  ],
  exports: [
    AccountLifecycle,
    Authenticator,
    IssuedTokensService,
    SessionsService,
    VerifiedEmailsService,
  ],
})
export class AccountsModule {}
