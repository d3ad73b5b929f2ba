import { composeMail, type MailText } from '@relayger/kernel';
import { accountName, type MailedAccount, RECOVER_AT_ONCE } from './about-account.js';

/** Tells that the recovery key that was stored away opens nothing any more. */
export function recoveryKeyRotated(account: MailedAccount, origin: string): MailText {
  return composeMail('Your recovery key was replaced', [
    `There is a new recovery key for ${accountName(account, origin)}. The one before opens nothing any more.`,
    RECOVER_AT_ONCE,
  ]);
}
