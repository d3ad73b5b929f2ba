import { z } from 'zod';
import { int } from '../config/config.js';
import { isMailbox } from './mailbox-address.js';
import { isSmtpUrl } from './smtp-url.js';

/** Settings of mail; each is described where it is defaulted. */
export const mailSettings = {
  SMTP_URL: z
    .string()
    .refine(isSmtpUrl, 'must look like smtps://user:password@host:465, without a path')
    .optional()
    .describe('The server that takes mail; smtps:// or smtp://, with STARTTLS. Default: no mail.'),
  MAIL_FROM: z
    .string()
    .refine(isMailbox, 'must be an address, or a name with an address in angle brackets')
    .optional()
    .describe('The sender of mail. Default: Relayger <no-reply@ the host of PUBLIC_URL>.'),
  // A server with its 1000 registrations a day sends 42 verifications an hour; common providers refuse a
  // sender of more than some hundred.
  MAILS_PER_HOUR: int(1, 1_000_000)
    .default(300)
    .describe(
      'Mails an hour of each kind: verification, recovery and sign-in codes, security notices.',
    ),
};
