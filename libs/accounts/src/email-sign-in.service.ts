import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '@relayger/kernel';
import {
  type EmailSignInRequest,
  type EmailSignInResponse,
  fail,
  HUMAN_SCOPES,
  type Scope,
} from '@relayger/protocol';
import { AttemptsService } from './attempts.service.js';
import { EmailCodesService, type MailableAccount } from './email-codes.service.js';
import { foldAddress } from './human-address.js';
import { deleteEmailCodes } from './sql/delete-email-codes.js';
import { findHumansByEmail } from './sql/find-humans-by-email.js';
import { findLastGrant } from './sql/find-last-grant.js';
import { findRecoveryEmail } from './sql/find-recovery-email.js';
import type { EmailCode } from './sql/list-email-codes.js';
import { lockCredential } from './sql/lock-credential.js';
import { TokensService } from './tokens.service.js';

interface Shown {
  account: MailableAccount;
  code: EmailCode;
}

/** Lets people in who can read the mail to their verified address. */
@Injectable()
export class EmailSignInService {
  constructor(
    private readonly database: Database,
    private readonly attempts: AttemptsService,
    private readonly codes: EmailCodesService,
    private readonly tokens: TokensService,
  ) {}

  /** Mails a code to an address, one for each person who has verified it. */
  async send(sql: Transaction, address: string): Promise<void> {
    for (const account of await findHumansByEmail(sql, address)) {
      await this.codes.sendTo(sql, 'sign_in', account, address);
    }
  }

  /**
   * Exchanges a code for a token.
   * @throws RelaygerError `invalid_credentials`, `too_many_attempts`, `unavailable`
   */
  async signIn({ email, code }: EmailSignInRequest, client: string): Promise<EmailSignInResponse> {
    const address = foldAddress(email);
    const { proven, counted } = await this.attempts.check(
      'sign_in_code',
      { client, account: address },
      () => this.prove(address, code),
    );
    const { identityId, number, handle } = proven.account;
    const { token, expiresAt, scopes } = await this.database.transaction(async (sql) => {
      const credential = await lockCredential(sql, identityId);
      const verified = await findRecoveryEmail(sql, identityId);
      const ended = await deleteEmailCodes(sql, identityId, { purpose: 'sign_in' });
      const holds =
        credential &&
        verified?.address === address &&
        ended.some((code) => code.id === proven.code.id && code.address === address);
      if (!holds) fail('invalid_credentials');
      await this.attempts.forgive(sql, counted);
      return this.open(sql, identityId);
    });
    return { id: identityId, number, handle, token, expiresAt: expiresAt.toISOString(), scopes };
  }

  private async prove(address: string, code: string): Promise<Shown | null> {
    const accounts = await findHumansByEmail(this.database, address);
    // Nobody's codes are looked for too: an unknown address costs what a known one does.
    for (const account of accounts.length > 0 ? accounts : [null]) {
      const found = await this.codes.find(account?.identityId ?? null, 'sign_in', code);
      if (account && found) return { account, code: found };
    }
    return null;
  }

  /**
   * Opens a token like the newest one that the person had. A mailbox must not give more than the account had:
   * neither what an operator has left out, nor decisions on approvals, nor an administrator's power.
   */
  private async open(sql: Transaction, identityId: string) {
    const last = await findLastGrant(sql, identityId);
    const granted: readonly Scope[] = last?.scopes ?? HUMAN_SCOPES;
    const scopes = HUMAN_SCOPES.filter((scope) => granted.includes(scope) || granted.includes('*'));
    const opened = await this.tokens.open(sql, identityId, scopes, last?.roomIds ?? null);
    return { ...opened, scopes };
  }
}
