import { composeMail, type MailText } from '@relayger/kernel';
import { accountName, type MailedAccount } from './about-account.js';

/** Tells an address that it protects an account no longer. */
export function emailRemoved(account: MailedAccount, origin: string): MailText {
  return composeMail('Your recovery address was removed', [
    `This is no longer the recovery address of ${accountName(account, origin)}, which has none now.`,
    'If this was not you, recover the account at once with its recovery key. That ends every session and sets a new password.',
  ]);
}
