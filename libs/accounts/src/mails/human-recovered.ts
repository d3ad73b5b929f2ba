import { composeMail, type MailText } from '@relayger/kernel';
import { accountName, type MailedAccount } from './about-account.js';

/** Tells a person that somebody has got back in. */
export function humanRecovered(account: MailedAccount, origin: string): MailText {
  return composeMail('Your account was recovered', [
    `Somebody recovered ${accountName(account, origin)} with its recovery key. Every token and session has ended; there is a new password and a new recovery key.`,
    'If this was not you, sign in with a code that POST /v1/email/send mails here, and tell the operator of this server.',
  ]);
}
