import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, type Sql } from '@relayger/kernel';
import {
  AGENT_SCOPES,
  fail,
  isWeakPassword,
  parseNumber,
  type RecoverRequest,
  type RecoverResponse,
} from '@relayger/protocol';
import { AttemptsService } from './attempts.service.js';
import { EmailCodesService } from './email-codes.service.js';
import { Endings } from './endings.service.js';
import { accountRecovered } from './mails/account-recovered.js';
import { PasswordsService } from './passwords.service.js';
import { hashRecoveryKey, NO_RECOVERY_KEY, newPassword, newRecoveryKey } from './secrets.js';
import { SecurityNotices } from './security-notices.service.js';
import { deleteEmailCodes } from './sql/delete-email-codes.js';
import { type Account, findAccount } from './sql/find-account.js';
import { findRecoveryEmail } from './sql/find-recovery-email.js';
import { lockCredential } from './sql/lock-credential.js';
import { updateCredential } from './sql/update-credential.js';
import { TokensService } from './tokens.service.js';

/** What somebody has shown outside the transaction: the key with this digest, or the code in this row. */
type Shown = { account: Account } & ({ keyHash: Buffer } | { codeId: string });

/** That, and what the account is to become. */
type Recovery = Shown & { passwordHash: string };

/** Lets agents back in that have lost their password. */
@Injectable()
export class RecoveryService {
  constructor(
    private readonly database: Database,
    private readonly attempts: AttemptsService,
    private readonly passwords: PasswordsService,
    private readonly tokens: TokensService,
    private readonly codes: EmailCodesService,
    private readonly notices: SecurityNotices,
    private readonly endings: Endings,
  ) {}

  /**
   * Exchanges the recovery key, or a code that was mailed, for a new password, a new key and a session, and ends
   * every other session.
   * @throws RelaygerError `invalid_number`, `invalid_number_check_digit`, `weak_password`,
   *   `invalid_credentials`, `too_many_attempts`, `unavailable`
   */
  async recover(request: RecoverRequest, client: string): Promise<RecoverResponse> {
    const number = parseNumber(request.number);
    const { password: chosen, code } = request;
    // Before the secret is looked at: what everybody can see of a password must not use up an attempt.
    if (chosen !== undefined && isWeakPassword(chosen, { number })) fail('weak_password');
    const password = chosen ?? newPassword();
    const recoveryKey = newRecoveryKey();

    const { proven, counted } = await this.attempts.check(
      code === undefined ? 'recovery' : 'recovery_code',
      { client, account: number },
      () => this.prove(number, request, password, chosen !== undefined),
    );
    const { identityId, handle } = proven.account;
    const { token, expiresAt } = await this.database.transaction(async (sql) => {
      await this.spend(sql, proven);
      const { passwordHash } = proven;
      const recoveryKeyHash = hashRecoveryKey(identityId, recoveryKey);
      await updateCredential(sql, identityId, { passwordHash, recoveryKeyHash });
      await this.endings.revokeTokens(sql, identityId);
      await this.attempts.forgive(sql, counted);
      const opened = await this.tokens.open(sql, identityId, AGENT_SCOPES);
      await this.notices.tell(sql, identityId, accountRecovered);
      return opened;
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

  /** @throws RelaygerError `weak_password` once the secret was right: only its holder may learn the handle */
  private async prove(
    number: string,
    { recoveryKey, code }: RecoverRequest,
    password: string,
    isChosen: boolean,
  ): Promise<Recovery | null> {
    const account = await findAccount(this.database, number);
    const shown =
      code === undefined
        ? this.proveKey(account, recoveryKey ?? '')
        : await this.proveCode(account, code);
    if (!shown) return null;
    if (isChosen && isWeakPassword(password, shown.account)) fail('weak_password');
    return { ...shown, passwordHash: await this.passwords.hash(password) };
  }

  private proveKey(account: Account | null, recoveryKey: string): Shown | null {
    const keyHash = hashRecoveryKey(account?.identityId ?? '', recoveryKey);
    const fits = timingSafeEqual(account?.recoveryKeyHash ?? NO_RECOVERY_KEY, keyHash);
    return account && fits ? { account, keyHash } : null;
  }

  private async proveCode(account: Account | null, code: string): Promise<Shown | null> {
    // Nobody's codes are looked for too: an unknown number costs what a known one does.
    const found = await this.codes.find(account?.identityId ?? null, 'recovery', code);
    return account && found ? { account, codeId: found.id } : null;
  }

  /**
   * Takes the credentials and uses up what was shown. Of two recoveries with one key the later finds it replaced,
   * and of two with one code the later finds it gone. Codes that were mailed before open nothing after a recovery.
   */
  private async spend(sql: Sql, shown: Shown): Promise<void> {
    const { identityId } = shown.account;
    const credential = await lockCredential(sql, identityId);
    const email = await findRecoveryEmail(sql, identityId);
    const codes = await deleteEmailCodes(sql, identityId);
    const holds =
      'keyHash' in shown
        ? credential?.recoveryKeyHash?.equals(shown.keyHash)
        : credential &&
          codes.some(({ id, address }) => id === shown.codeId && address === email?.address);
    if (!holds) fail('invalid_credentials');
  }
}
