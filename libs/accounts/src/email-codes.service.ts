import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  Database,
  LOGGER,
  type Logger,
  MailOutbox,
  type MailText,
  Secrets,
  ServiceAddress,
  type Transaction,
} from '@relayger/kernel';
import { v7 as uuid } from 'uuid';
import { counter, countIn } from './counters.js';
import type { MailedAccount } from './mails/about-account.js';
import { recoveryCode } from './mails/recovery-code.js';
import { signInCode } from './mails/sign-in-code.js';
import { verificationCode } from './mails/verification-code.js';
import { newEmailCode } from './secrets.js';
import { findRecoveryEmail } from './sql/find-recovery-email.js';
import { type CodePurpose, insertEmailCode } from './sql/insert-email-code.js';
import { type EmailCode, listEmailCodes } from './sql/list-email-codes.js';
import { lockCredential } from './sql/lock-credential.js';

/** Contract section 2: fifteen minutes. The mails say so too. */
const USEFUL_FOR = 900;

const MAILS: Record<
  CodePurpose,
  (account: MailedAccount, origin: string, code: string) => MailText
> = { verification: verificationCode, recovery: recoveryCode, sign_in: signInCode };

/** Verification mails an hour that one account may cause, to all addresses together. */
const VERIFICATIONS_PER_HOUR = 10;

/** No identity has the nil UUID (RFC 9562 section 5.9). */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** An account that a code can be for. */
export interface MailableAccount extends MailedAccount {
  identityId: string;
}

/** Mails codes and recognises them. */
@Injectable()
export class EmailCodesService {
  constructor(
    private readonly database: Database,
    private readonly outbox: MailOutbox,
    private readonly secrets: Secrets,
    private readonly address: ServiceAddress,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /**
   * Mails a new code in the caller's transaction; `limited` and `unavailable` leave everything as it was. Codes
   * that were sent before stay: otherwise whoever asks for one more would take yours away.
   */
  async send(
    sql: Transaction,
    purpose: CodePurpose,
    account: MailableAccount,
    address: string,
  ): ReturnType<MailOutbox['enqueue']> {
    if (purpose === 'verification' && !(await this.mayVerify(sql, account.identityId)))
      return 'limited';
    const code = newEmailCode();
    const text = MAILS[purpose](account, this.address.origin, code);
    const enqueued = await this.outbox.enqueue(sql, {
      ...text,
      to: address,
      purpose,
      usefulFor: USEFUL_FOR,
    });
    if (enqueued !== 'queued') return enqueued;
    const { identityId } = account;
    const hash = this.hash(identityId, purpose, code);
    const row = { id: uuid(), identityId, purpose, address, hash, usefulFor: USEFUL_FOR };
    await insertEmailCode(sql, row);
    return enqueued;
  }

  /**
   * A verification goes to whatever address the account names: without a limit of its own, one agent could mail
   * strangers and use up the whole server's quota.
   */
  private async mayVerify(sql: Transaction, identityId: string): Promise<boolean> {
    const mails = counter(['verification mails', identityId], VERIFICATIONS_PER_HOUR, 3600);
    return (await countIn(sql, [mails])).retryAfter === null;
  }

  /**
   * Mails a code that somebody has asked for without being signed in, and who is answered alike whatever becomes
   * of it. The credentials are taken so that the address cannot change before the code is stored: what changes it
   * ends the codes that are there.
   */
  async sendTo(
    sql: Transaction,
    purpose: CodePurpose,
    account: MailableAccount,
    address: string,
  ): Promise<void> {
    await lockCredential(sql, account.identityId);
    const verified = await findRecoveryEmail(sql, account.identityId);
    if (verified?.address !== address) return;
    if ((await this.send(sql, purpose, account, address)) === 'limited') {
      this.log.warn({ purpose }, 'a quota of mails is used up; a code was not sent');
    }
  }

  /**
   * The open code of an identity that this text is, or null. It is used up only by whoever deletes it.
   * @param identityId null for somebody who does not exist, who costs the same
   */
  async find(
    identityId: string | null,
    purpose: CodePurpose,
    code: string,
  ): Promise<EmailCode | null> {
    // A server that sends no mail has sent no codes, and may have no key to compare them with.
    if (!this.outbox.available) return null;
    const hash = this.hash(identityId ?? NOBODY, purpose, code);
    const open = await listEmailCodes(this.database, identityId ?? NOBODY, purpose);
    return open.find((candidate) => timingSafeEqual(candidate.hash, hash)) ?? null;
  }

  /**
   * SHA-256 bound to identity and purpose, so that a digest copied to another row opens nothing; keyed, because
   * whoever reads the database could try all 40 bits of a plain one within the quarter of an hour. Spelling does
   * not count, as with recovery keys.
   */
  private hash(identityId: string, purpose: CodePurpose, code: string): Buffer {
    const symbols = code.toUpperCase().replace(/[\s-]/g, '');
    return this.secrets.digest('email codes', `${purpose}:${identityId}:${symbols}`);
  }
}
