import { Inject, Injectable } from '@nestjs/common';
import {
  LOGGER,
  type Logger,
  MailOutbox,
  type MailText,
  ServiceAddress,
  type Transaction,
} from '@relayger/kernel';
import type { MailedAccount } from './mails/about-account.js';
import { findRecoveryEmail, type RecoveryEmail } from './sql/find-recovery-email.js';

/** Still worth reading after a day without mail; later the owner has noticed otherwise. */
const USEFUL_FOR = 86_400;

/** Tells owners what has happened to their accounts, so that they hear of what a thief does. */
@Injectable()
export class SecurityNotices {
  constructor(
    private readonly outbox: MailOutbox,
    private readonly address: ServiceAddress,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Mails a notice to the verified address of an identity, if it has one, once the transaction commits. */
  async tell(
    sql: Transaction,
    identityId: string,
    write: (account: MailedAccount, origin: string) => MailText,
  ): Promise<void> {
    if (!this.outbox.available) return;
    const email = await findRecoveryEmail(sql, identityId);
    if (email) await this.tellAt(sql, email, write);
  }

  /** The same to an address that has been verified until now. */
  async tellAt(
    sql: Transaction,
    { address, ...account }: RecoveryEmail,
    write: (account: MailedAccount, origin: string) => MailText,
  ): Promise<void> {
    const text = write(account, this.address.origin);
    const enqueued = await this.outbox.enqueue(sql, {
      ...text,
      to: address,
      purpose: 'notice',
      usefulFor: USEFUL_FOR,
    });
    if (enqueued === 'limited')
      this.log.warn('a security notice was not sent: its address gets too many');
  }
}
