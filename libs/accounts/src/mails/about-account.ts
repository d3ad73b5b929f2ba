/** The account that a mail is about. Both names have a fixed alphabet: nothing somebody made up gets into a mail. */
export interface MailedAccount {
  number: string;
  handle: string;
}

/** How a mail names an account, and the server that it is on. */
export function accountName({ number, handle }: MailedAccount, origin: string): string {
  return `the account ${number} (@${handle}) at ${origin}`;
}

/** What to do after something that the owner has not done. */
export const RECOVER_AT_ONCE =
  'If this was not you, recover the account at once, with its recovery key or with a code that POST /v1/recover/email has mailed here. That ends every session and sets a new password.';
