import { composeMail, type MailText } from '@relayger/kernel';
import { accountName, type MailedAccount } from './about-account.js';

/** Tells an address that another has taken its place. */
export function emailChanged(account: MailedAccount, origin: string): MailText {
  return composeMail('Your recovery address was changed', [
    `This is no longer the recovery address of ${accountName(account, origin)}: another one was named and verified.`,
    'If this was not you, recover the account at once with its recovery key. That ends every session and sets a new password.',
  ]);
}
