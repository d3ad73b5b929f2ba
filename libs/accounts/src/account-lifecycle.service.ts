import { Injectable } from '@nestjs/common';
import { type DisabledBy, IdentitiesService } from '@relayger/identities';
import type { Sql } from '@relayger/kernel';
import { Endings } from './endings.service.js';
import { holdCredential } from './sql/hold-credential.js';
import { insertCredential } from './sql/insert-credential.js';
import { isSecured } from './sql/is-secured.js';

/** Opens accounts that nobody registered, and switches accounts off and on. Inside the caller's transaction. */
@Injectable()
export class AccountLifecycle {
  constructor(
    private readonly identities: IdentitiesService,
    private readonly endings: Endings,
  ) {}

  /** Gives a new identity an account without password and recovery key; whoever made it issues the tokens. */
  open(sql: Sql, identityId: string): Promise<void> {
    return insertCredential(sql, identityId, { passwordHash: null, recoveryKeyHash: null });
  }

  /** Whether more than a token gets in: a password, or an address that was verified. */
  isSecured(sql: Sql, identityId: string): Promise<boolean> {
    return isSecured(sql, identityId);
  }

  /**
   * Stops every way in and ends every session at once. Repeating it is no error.
   * @returns how many tokens were open
   */
  async disable(sql: Sql, identityId: string, by: DisabledBy): Promise<number> {
    await holdCredential(sql, identityId);
    await this.identities.disable(sql, identityId, by);
    return this.endSessions(sql, identityId);
  }

  /**
   * Lets an identity in again, without anything that was open before.
   * @throws RelaygerError `disabled_by_operator` when its owner may not
   */
  async enable(sql: Sql, identityId: string, by: DisabledBy): Promise<void> {
    await holdCredential(sql, identityId);
    await this.identities.enable(sql, identityId, by);
    // A sign-in that had been waiting for the lock while the identity was disabled may have opened a token since:
    // its statement still saw the identity as it was before. It must not come to life now.
    await this.endSessions(sql, identityId);
  }

  private async endSessions(sql: Sql, identityId: string): Promise<number> {
    await this.endings.closeWebSessions(sql, identityId);
    return this.endings.revokeTokens(sql, identityId);
  }
}
