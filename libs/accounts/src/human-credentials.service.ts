import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, Database, type Principal } from '@relayger/kernel';
import {
  fail,
  type HumanPasswordRequest,
  type HumanRecoverRequest,
  isWeakPassword,
} from '@relayger/protocol';
import type { AccountsConfig } from './accounts.config.js';
import { AttemptsService } from './attempts.service.js';
import { Endings } from './endings.service.js';
import { foldAddress } from './human-address.js';
import { humanPasswordChanged } from './mails/human-password-changed.js';
import { humanRecovered } from './mails/human-recovered.js';
import { PasswordsService } from './passwords.service.js';
import { hashRecoveryKey, NO_RECOVERY_KEY, newRecoveryKey } from './secrets.js';
import { SecurityNotices } from './security-notices.service.js';
import { detachWebSession } from './sql/detach-web-session.js';
import { findHuman } from './sql/find-human.js';
import { lockCredential } from './sql/lock-credential.js';
import { updateCredential } from './sql/update-credential.js';

/** Changes how a person gets in. Both ways make a new recovery key and end what was opened before. */
@Injectable()
export class HumanCredentialsService {
  constructor(
    private readonly database: Database,
    private readonly attempts: AttemptsService,
    private readonly passwords: PasswordsService,
    private readonly notices: SecurityNotices,
    private readonly endings: Endings,
    @Inject(CONFIG) private readonly config: AccountsConfig,
  ) {}

  /**
   * Replaces the password of the person who is signed in. Tokens and other sessions end in the same transaction:
   * whoever held one knew the old password, or stole what it opened.
   * @returns the new recovery key
   * @throws RelaygerError `human_password_off`, `session_required`, `weak_password`, `invalid_credentials`,
   *   `too_many_attempts`, `unauthorized` when the session has ended since the request began
   */
  async changePassword(
    caller: Principal,
    client: string,
    { email, password, newPassword }: HumanPasswordRequest,
  ): Promise<string> {
    this.requirePasswords();
    const { identityId, sessionId } = caller;
    if (sessionId === null) fail('session_required');
    if (isWeakPassword(newPassword, caller)) fail('weak_password');
    const address = foldAddress(email);
    const target = { client, account: address };
    const { proven, counted } = await this.attempts.check('sign_in', target, async () => {
      const found = await findHuman(this.database, address);
      // Somebody else's address, with their password even, is as wrong as one that nobody has.
      const own = found?.identityId === identityId ? found.passwordHash : null;
      return (await this.passwords.matches(password, own)) ? own : null;
    });
    const passwordHash = await this.passwords.hash(newPassword);
    const recoveryKey = newRecoveryKey();
    await this.database.transaction(async (sql) => {
      const credential = await lockCredential(sql, identityId);
      if (credential?.passwordHash !== proven) fail('invalid_credentials');
      if (!(await detachWebSession(sql, sessionId))) fail('unauthorized');
      const recoveryKeyHash = hashRecoveryKey(identityId, recoveryKey);
      await updateCredential(sql, identityId, { passwordHash, recoveryKeyHash });
      await this.endings.revokeTokens(sql, identityId);
      await this.endings.closeWebSessions(sql, identityId, { except: sessionId });
      await this.attempts.forgive(sql, counted);
      await this.notices.tell(sql, identityId, humanPasswordChanged);
    });
    return recoveryKey;
  }

  /**
   * Exchanges the recovery key for a new password and a new key. Opens nothing by itself: the person signs in.
   * @returns the new recovery key
   * @throws RelaygerError `human_password_off`, `weak_password`, `invalid_credentials`, `too_many_attempts`
   */
  async recover(
    { email, recoveryKey: used, newPassword }: HumanRecoverRequest,
    client: string,
  ): Promise<string> {
    this.requirePasswords();
    // Before the key is looked at: what everybody can see of a password must not use up an attempt.
    if (isWeakPassword(newPassword, {})) fail('weak_password');
    const address = foldAddress(email);
    const target = { client, account: address };
    const { proven, counted } = await this.attempts.check('recovery', target, async () => {
      const account = await findHuman(this.database, address);
      const keyHash = hashRecoveryKey(account?.identityId ?? '', used);
      const fits = timingSafeEqual(account?.recoveryKeyHash ?? NO_RECOVERY_KEY, keyHash);
      if (!account || !fits) return null;
      // Only the holder of the key may learn number and handle.
      if (isWeakPassword(newPassword, account)) fail('weak_password');
      const passwordHash = await this.passwords.hash(newPassword);
      return { identityId: account.identityId, keyHash, passwordHash };
    });
    const { identityId, keyHash, passwordHash } = proven;
    const recoveryKey = newRecoveryKey();
    await this.database.transaction(async (sql) => {
      const credential = await lockCredential(sql, identityId);
      // Of two recoveries with one key the later finds it replaced.
      if (!credential?.recoveryKeyHash?.equals(keyHash)) fail('invalid_credentials');
      const recoveryKeyHash = hashRecoveryKey(identityId, recoveryKey);
      await updateCredential(sql, identityId, { passwordHash, recoveryKeyHash });
      await this.endings.revokeTokens(sql, identityId);
      await this.endings.closeWebSessions(sql, identityId);
      await this.attempts.forgive(sql, counted);
      await this.notices.tell(sql, identityId, humanRecovered);
    });
    return recoveryKey;
  }

  private requirePasswords(): void {
    if (!this.config.HUMAN_PASSWORD_AUTH) fail('human_password_off');
  }
}
