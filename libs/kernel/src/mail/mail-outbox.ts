import { Inject, Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import { CONFIG, type KernelConfig } from '../config/kernel.config.js';
import type { Transaction } from '../database/sql.js';
import { Secrets } from '../secrets/secrets.js';
import { MailDelivery } from './mail.jobs.js';
import { MAIL_BOX, type Mail, type OutgoingMail } from './mail.js';
import { insertMail } from './sql/insert-mail.js';

/**
 * Mails of one purpose an hour to one address. Enough for an owner of many agents who has lost a code; too few to
 * bury somebody's mailbox in codes that anybody may ask for. Notices tell of what has happened already: there
 * may be as many as an owner can look after agents, and then some.
 */
const PER_RECIPIENT = { verification: 10, recovery: 10, sign_in: 10, notice: 100 } as const;

/** More than the table will ever hold. */
const NO_LIMIT = 2 ** 31 - 1;

/** What became of a mail: it will leave, the quota is used up, or this server sends none. */
export type Enqueued = 'queued' | 'limited' | 'unavailable';

/** Takes mails inside the transaction that they belong to: they leave if, and only if, it commits. */
@Injectable()
export class MailOutbox {
  constructor(
    @Inject(CONFIG) private readonly config: KernelConfig,
    private readonly secrets: Secrets,
    private readonly delivery: MailDelivery,
  ) {}

  /** Whether this server sends mail. */
  get available(): boolean {
    return this.config.SMTP_URL !== undefined;
  }

  /**
   * Puts a mail into the outbox. Make it the last step of the transaction: from here to the commit everybody else
   * waits who sends a mail for the same purpose.
   */
  async enqueue(sql: Transaction, mail: OutgoingMail): Promise<Enqueued> {
    if (!this.available) return 'unavailable';
    const { purpose, usefulFor, to, subject, text, html } = mail;
    const id = uuid();
    const content: Mail = { to, subject, text, html };
    const stored = await insertMail(sql, {
      id,
      purpose,
      recipientKey: this.secrets.digest('mail recipients', `${purpose}:${to.toLowerCase()}`),
      content: this.secrets.box(MAIL_BOX).seal(id, JSON.stringify(content)),
      usefulFor,
      // Notices go to verified addresses only, and nobody may use up the notice of somebody else's trouble.
      perHour: purpose === 'notice' ? NO_LIMIT : this.config.MAILS_PER_HOUR,
      perRecipient: PER_RECIPIENT[purpose],
    });
    if (!stored) return 'limited';
    sql.afterCommit(() => this.delivery.wake());
    return 'queued';
  }
}
