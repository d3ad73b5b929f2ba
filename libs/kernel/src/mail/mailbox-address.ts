import { z } from 'zod';

/** Somebody mail is from or to. Kept in parts: nothing has to be parsed again out of a header. */
export interface MailboxAddress {
  name: string;
  address: string;
}

/** `address`, `<address>`, `Name <address>` or `"Name" <address>`; a name without quotes, brackets and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this keeps out
const MAILBOX = /^(?:"?([^"<>\u0000-\u001f\u007f]*?)"? *<([^<>]+)>|([^<>]+))$/;
/** zod's own addresses have a domain with a dot; a server of one's own may well send from localhost. */
const Address = z.email({ pattern: z.regexes.html5Email }).max(254);

/** Reads a sender; null for text that is none. */
export function parseMailbox(text: string): MailboxAddress | null {
  const [, name = '', bracketed, bare] = MAILBOX.exec(text.trim()) ?? [];
  const { success, data } = Address.safeParse(bracketed ?? bare);
  return success ? { name: name.trim(), address: data } : null;
}

/** Whether text is a sender. */
export function isMailbox(text: string): boolean {
  return parseMailbox(text) !== null;
}
