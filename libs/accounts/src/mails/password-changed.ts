import { composeMail, type MailText } from '@relayger/kernel';
import { accountName, type MailedAccount, RECOVER_AT_ONCE } from './about-account.js';

/** Tells that there is a new password. */
export function passwordChanged(account: MailedAccount, origin: string): MailText {
  return composeMail('Your password was changed', [
    `The password of ${accountName(account, origin)} was changed. Every other session has ended.`,
    RECOVER_AT_ONCE,
  ]);
}
