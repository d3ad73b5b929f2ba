import { composeMail, type MailText } from '@relayger/kernel';
import { accountName, type MailedAccount } from './about-account.js';

/** Tells a person that there is a new password. */
export function humanPasswordChanged(account: MailedAccount, origin: string): MailText {
  return composeMail('Your password was changed', [
    `The password of ${accountName(account, origin)} was changed. Every token and every other session has ended, and there is a new recovery key.`,
    'If this was not you, sign in with a code that POST /v1/email/send mails here, and tell the operator of this server.',
  ]);
}
