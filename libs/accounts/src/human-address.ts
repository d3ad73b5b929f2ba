/**
 * An address as it is stored and compared. RFC 5321 section 2.4 lets a server tell capitals apart in front of the
 * @; no mail provider of people does, and two accounts that differ in nothing else would be a trap.
 */
export function foldAddress(email: string): string {
  return email.toLowerCase();
}
