import { composeMail, type MailText } from '@relayger/kernel';
import { accountName, type MailedAccount } from './about-account.js';

/** Lets a person in. */
export function signInCode(account: MailedAccount, origin: string, code: string): MailText {
  return composeMail('Your sign-in code', [
    `Somebody wants to sign in to ${accountName(account, origin)}. Within 15 minutes this code lets them in:`,
    { code },
    'Type it in where you asked for it, and give it to nobody: nobody else ever needs it.',
    'If you did not ask for it, ignore this mail: the account is safe while the code stays here.',
  ]);
}
