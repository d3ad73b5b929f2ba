import { Inject, Injectable } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { CONFIG, type KernelConfig } from '../config/kernel.config.js';
import { ServiceAddress } from '../http/service-address.js';
import type { Mail } from './mail.js';
import { type MailboxAddress, parseMailbox } from './mailbox-address.js';
import { parseSmtpUrl } from './smtp-url.js';

/** For one step of the dialogue, in ms; RFC 5321 section 4.5.3.2 allows minutes, which nobody waits for a code. */
const STEP_MS = 15_000;

/** Why a mail was not taken. Nothing the server has said is in it: replies repeat addresses. */
export interface SendFailure {
  errorCode: string;
  smtpStatus: number | undefined;
  /** Trying the same again would end the same. */
  permanent: boolean;
}

/** Hands mails to the SMTP server, each over a connection of its own. */
@Injectable()
export class SmtpSender {
  private readonly transport: ReturnType<typeof createTransport> | null;

  constructor(
    @Inject(CONFIG) private readonly config: KernelConfig,
    private readonly address: ServiceAddress,
  ) {
    const server = config.SMTP_URL === undefined ? null : parseSmtpUrl(config.SMTP_URL);
    this.transport =
      server &&
      createTransport({
        ...server,
        connectionTimeout: STEP_MS,
        greetingTimeout: STEP_MS,
        socketTimeout: STEP_MS,
        dnsTimeout: STEP_MS,
        // Mails hold text only; a text that named a file or an address must never bring its content along.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
  }

  /** Whether there is a server to hand mails to. */
  get available(): boolean {
    return this.transport !== null;
  }

  /**
   * Hands one mail over.
   * @param id becomes the Message-ID: a mail that has to be sent twice can be told to be one
   * @throws what `sendFailure` reads
   */
  async send(id: string, { to, subject, text, html }: Mail, signal: AbortSignal): Promise<void> {
    if (!this.transport) throw new Error('there is no SMTP_URL to send mail to');
    const from = this.from();
    await this.transport.sendMail({
      from,
      // In parts: given as one text, a comma in it would make two recipients of one.
      to: { name: '', address: to },
      subject,
      text,
      html,
      messageId: `<${id}@${from.address.split('@')[1]}>`,
      // RFC 3834 section 5: keeps replies of programs, such as notes of absence, from coming back.
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal,
    });
  }

  private from(): MailboxAddress {
    const { MAIL_FROM } = this.config;
    const set = MAIL_FROM === undefined ? null : parseMailbox(MAIL_FROM);
    const { hostname } = new URL(this.address.origin);
    return set ?? { name: 'Relayger', address: `no-reply@${hostname}` };
  }
}

/** What a failed attempt means. */
export function sendFailure(error: unknown): SendFailure {
  const { code, responseCode, command } = error as {
    code?: unknown;
    responseCode?: unknown;
    command?: unknown;
  };
  const smtpStatus = typeof responseCode === 'number' ? responseCode : undefined;
  // RFC 5321 section 4.2.1: 5yz is for good. About the recipient or the text it is for this mail; about the
  // sign-in or the sender it is for our settings, which somebody may correct.
  const isAboutMail = command === 'RCPT TO' || command === 'DATA';
  return {
    errorCode: typeof code === 'string' ? code : 'EUNKNOWN',
    smtpStatus,
    permanent: isAboutMail && smtpStatus !== undefined && smtpStatus >= 500,
  };
}
