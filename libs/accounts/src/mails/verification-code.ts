import { composeMail, type MailText } from '@relayger/kernel';
import { accountName, type MailedAccount } from './about-account.js';

/** Asks whether an address may protect an account. */
export function verificationCode(account: MailedAccount, origin: string, code: string): MailText {
  return composeMail('Your verification code', [
    `This address was named as the recovery address of ${accountName(account, origin)}. To confirm it, give this code to that account within 15 minutes:`,
    { code },
    'Whoever can read mail to this address can then recover the account.',
    'If you know nothing of this, ignore this mail: without the code nothing happens.',
  ]);
}
