import { Global, Module } from '@nestjs/common';
import { IdentitiesModule } from '@relayger/identities';
import { Authenticator } from '@relayger/kernel';
import { AccountsController } from './accounts.controller.js';
import { PasswordsService } from './passwords.service.js';
import { RegistrationService } from './registration.service.js';
import { SignInService } from './sign-in.service.js';
import { TokensService } from './tokens.service.js';

/** Global, because the kernel's guard asks every application for an Authenticator. */
@Global()
@Module({
  imports: [IdentitiesModule],
  controllers: [AccountsController],
  providers: [
    PasswordsService,
    RegistrationService,
    SignInService,
    TokensService,
    { provide: Authenticator, useExisting: TokensService },
  ],
  exports: [Authenticator],
})
export class AccountsModule {}
