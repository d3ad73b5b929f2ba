/** The purpose that the key of sealed mails is derived for. */
export const MAIL_BOX = 'mail outbox';

/**
 * What a mail is for. Each purpose has a quota of its own: otherwise whoever uses up one could keep the others
 * from leaving, such as the notice that tells an owner of a theft; and whether a request for a recovery code has
 * sent a mail could be seen from what is left for a verification.
 */
export type MailPurpose = 'verification' | 'recovery' | 'sign_in' | 'notice';

/** What is in a mail, as people see it. */
export interface MailText {
  subject: string;
  text: string;
  html: string;
}

/** A mail to be sent. */
export interface Mail extends MailText {
  to: string;
}

/** A mail with what the outbox has to know of it. */
export interface OutgoingMail extends Mail {
  purpose: MailPurpose;
  /** Seconds after which it has become useless: it is dropped rather than sent later. At most a day. */
  usefulFor: number;
}
