import { Global, Module } from '@nestjs/common';
import { IdentitiesModule } from '@relayger/identities';
import { Authenticator } from '@relayger/kernel';
import { AccountsController } from './accounts.controller.js';
import { AccountsSweep } from './accounts.sweep.js';
import { AttemptsService } from './attempts.service.js';
import { CredentialsService } from './credentials.service.js';
import { OwnerProofService } from './owner-proof.service.js';
import { PasswordsService } from './passwords.service.js';
import { RecoveryService } from './recovery.service.js';
import { RegistrationService } from './registration.service.js';
import { RegistrationLimits } from './registration-limits.service.js';
import { SecurityController } from './security.controller.js';
import { SessionsService } from './sessions.service.js';
import { SignInService } from './sign-in.service.js';
import { TokensService } from './tokens.service.js';

/** Global, because the kernel's guard asks every application for an Authenticator. */
@Global()
@Module({
  imports: [IdentitiesModule],
  controllers: [AccountsController, SecurityController],
  providers: [
    AccountsSweep,
    AttemptsService,
    CredentialsService,
    OwnerProofService,
    PasswordsService,
    RecoveryService,
    RegistrationLimits,
    RegistrationService,
    SessionsService,
    SignInService,
    TokensService,
    { provide: Authenticator, useExisting: TokensService },
  ],
  exports: [Authenticator, SessionsService],
})
export class AccountsModule {}
