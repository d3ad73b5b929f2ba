import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import {
  AGENT_SCOPES,
  fail,
  isWeakPassword,
  parseNumber,
  type RecoverRequest,
  type RecoverResponse,
} from '@relayger/protocol';
import { AttemptsService } from './attempts.service.js';
import { PasswordsService } from './passwords.service.js';
import { hashRecoveryKey, NO_RECOVERY_KEY, newPassword, newRecoveryKey } from './secrets.js';
import { type Account, findAccount } from './sql/find-account.js';
import { lockCredential } from './sql/lock-credential.js';
import { revokeTokens } from './sql/revoke-tokens.js';
import { updateCredential } from './sql/update-credential.js';
import { TokensService } from './tokens.service.js';

/** What the holder of a recovery key has shown, and what the account is to become. */
interface Recovery {
  account: Account;
  keyHash: Buffer;
  passwordHash: string;
}

/** Lets agents back in that have lost their password. */
@Injectable()
export class RecoveryService {
  constructor(
    private readonly database: Database,
    private readonly attempts: AttemptsService,
    private readonly passwords: PasswordsService,
    private readonly tokens: TokensService,
  ) {}

  /**
   * Exchanges the recovery key for a new password, a new key and a session, and ends every other session.
   * @throws RelaygerError `invalid_number`, `invalid_number_check_digit`, `weak_password`,
   *   `invalid_credentials`, `too_many_attempts`, `unavailable`
   */
  async recover(request: RecoverRequest, client: string): Promise<RecoverResponse> {
    const number = parseNumber(request.number);
    const { password: chosen, recoveryKey: used } = request;
    // Before the key is looked at: what everybody can see of a password must not use up an attempt.
    if (chosen !== undefined && isWeakPassword(chosen, { number })) fail('weak_password');
    const password = chosen ?? newPassword();
    const recoveryKey = newRecoveryKey();

    const { proven, counted } = await this.attempts.check(
      'recovery',
      { client, account: number },
      () => this.prove(number, used, password, chosen !== undefined),
    );
    const { account, keyHash, passwordHash } = proven;
    const { identityId, handle } = account;
    const { token, expiresAt } = await this.database.transaction(async (sql) => {
      const credential = await lockCredential(sql, identityId);
      // Of two recoveries with one key the later finds it replaced.
      if (!credential?.recoveryKeyHash?.equals(keyHash)) fail('invalid_credentials');
      const recoveryKeyHash = hashRecoveryKey(identityId, recoveryKey);
      await updateCredential(sql, identityId, { passwordHash, recoveryKeyHash });
      await revokeTokens(sql, identityId);
      await this.attempts.forgive(sql, counted);
      return this.tokens.open(sql, identityId, AGENT_SCOPES);
    });
    return {
      id: identityId,
      number,
      handle,
      token,
      expiresAt: expiresAt.toISOString(),
      ...(chosen === undefined && { password }),
      recoveryKey,
    };
  }

  /** @throws RelaygerError `weak_password` once the key was right: only its holder may learn the handle */
  private async prove(
    number: string,
    recoveryKey: string,
    password: string,
    isChosen: boolean,
  ): Promise<Recovery | null> {
    const account = await findAccount(this.database, number);
    const keyHash = hashRecoveryKey(account?.identityId ?? '', recoveryKey);
    const fits = timingSafeEqual(account?.recoveryKeyHash ?? NO_RECOVERY_KEY, keyHash);
    if (!account || !fits) return null;
    if (isChosen && isWeakPassword(password, account)) fail('weak_password');
    return { account, keyHash, passwordHash: await this.passwords.hash(password) };
  }
}
