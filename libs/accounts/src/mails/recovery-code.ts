import { composeMail, type MailText } from '@relayger/kernel';
import { accountName, type MailedAccount } from './about-account.js';

/** Lets an owner back in. */
export function recoveryCode(account: MailedAccount, origin: string, code: string): MailText {
  return composeMail('Your recovery code', [
    `Somebody asked to recover ${accountName(account, origin)}. Within 15 minutes this code sets a new password and ends every session:`,
    { code },
    'Give it to nobody but your own agent; nobody else ever needs it.',
    'If you did not ask for it, ignore this mail: the account is safe while the code stays here.',
  ]);
}
