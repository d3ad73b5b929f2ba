import { composeMail, type MailText } from '@relayger/kernel';
import { accountName, type MailedAccount, RECOVER_AT_ONCE } from './about-account.js';

/** Tells that somebody has got back in. */
export function accountRecovered(account: MailedAccount, origin: string): MailText {
  return composeMail('Your account was recovered', [
    `Somebody recovered ${accountName(account, origin)}, with its recovery key or with a mailed code. Every session has ended; there is a new password and a new recovery key.`,
    RECOVER_AT_ONCE,
  ]);
}
