import { Injectable } from '@nestjs/common';
import { Authenticator, type Principal } from '@relayger/kernel';
import { TokensService } from './tokens.service.js';
import { WebSessionsService } from './web-sessions.service.js';

/** The kernel guard's way to whom a token or a cookie belongs. */
@Injectable()
export class CredentialAuthenticator extends Authenticator {
  constructor(
    private readonly tokens: TokensService,
    private readonly sessions: WebSessionsService,
  ) {
    super();
  }

  authenticate(token: string): Promise<Principal | null> {
    return this.tokens.authenticate(token);
  }

  stillOpen(tokenIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.tokens.stillOpen(tokenIds);
  }

  authenticateSession(cookie: string): Promise<Principal | null> {
    return this.sessions.authenticate(cookie);
  }
}
