import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, Database } from '@relayger/kernel';
import { fail, HUMAN_SCOPES, type HumanLoginRequest } from '@relayger/protocol';
import type { AccountsConfig } from './accounts.config.js';
import { AttemptsService } from './attempts.service.js';
import { foldAddress } from './human-address.js';
import { PasswordsService } from './passwords.service.js';
import type { Account } from './sql/find-account.js';
import { findHuman } from './sql/find-human.js';
import { lockCredential } from './sql/lock-credential.js';
import { type OpenedSession, WebSessionsService } from './web-sessions.service.js';

/** Lets people in by address and password. */
@Injectable()
export class HumanSignInService {
  constructor(
    private readonly database: Database,
    private readonly attempts: AttemptsService,
    private readonly passwords: PasswordsService,
    private readonly sessions: WebSessionsService,
    @Inject(CONFIG) private readonly config: AccountsConfig,
  ) {}

  /**
   * Opens a web session. Every refusal takes the same path and the same time, so that neither tells whether
   * anybody has the address.
   * @throws RelaygerError `human_password_off`, `invalid_credentials`, `too_many_attempts`, `unavailable`
   */
  async login(
    { email, password }: HumanLoginRequest,
    client: string,
  ): Promise<{ account: Account; opened: OpenedSession }> {
    if (!this.config.HUMAN_PASSWORD_AUTH) fail('human_password_off');
    const address = foldAddress(email);
    const target = { client, account: address };
    const { proven: account, counted } = await this.attempts.check('sign_in', target, async () => {
      const found = await findHuman(this.database, address);
      const matches = await this.passwords.matches(password, found?.passwordHash ?? null);
      return matches ? found : null;
    });
    const { identityId } = account;
    const opened = await this.database.transaction(async (sql) => {
      const credential = await lockCredential(sql, identityId);
      if (credential?.passwordHash !== account.passwordHash) fail('invalid_credentials');
      await this.attempts.forgive(sql, counted);
      return this.sessions.open(sql, {
        identityId,
        tokenId: null,
        scopes: HUMAN_SCOPES,
        roomIds: null,
      });
    });
    return { account, opened };
  }
}
