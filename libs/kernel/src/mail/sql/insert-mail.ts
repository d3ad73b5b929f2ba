import { type Sql, statement } from '../../database/sql.js';
import type { MailPurpose } from '../mail.js';

export interface NewMail {
  id: string;
  purpose: MailPurpose;
  recipientKey: Buffer;
  content: Buffer;
  usefulFor: number;
  /** Most mails of this purpose in an hour, and most of them to this recipient. */
  perHour: number;
  perRecipient: number;
}

const lock = statement(
  'mail_lock_quota',
  `SELECT pg_advisory_xact_lock(hashtextextended('mail ' || $1, 0))`,
);

// date_trunc: the column has milliseconds and rounds; rounded up, the row would not be due when the wake that
// follows the commit looks for it.
const insert = statement<{ id: string }>(
  'mail_insert',
  `INSERT INTO mail_outbox (id, purpose, recipient_key, content, due_at, expires_at)
   SELECT $1, $2, $3, $4, date_trunc('milliseconds', now()), now() + make_interval(secs => $5)
    WHERE (SELECT count(*) FROM mail_outbox
            WHERE purpose = $2 AND created_at > now() - interval '1 hour') < $6
      AND (SELECT count(*) FROM mail_outbox
            WHERE recipient_key = $3 AND created_at > now() - interval '1 hour') < $7
   RETURNING id`,
);

/**
 * Stores a mail if the quotas leave room for it. The lock is held until the transaction ends: two that counted
 * the same rows could both take the last place. It is a statement of its own, because a statement sees what was
 * committed before it began, not before it got the lock.
 */
export async function insertMail(sql: Sql, mail: NewMail): Promise<boolean> {
  await sql.query(lock, [mail.purpose]);
  const { id, purpose, recipientKey, content, usefulFor, perHour, perRecipient } = mail;
  const values = [id, purpose, recipientKey, content, usefulFor, perHour, perRecipient];
  return (await sql.query(insert, values)).length === 1;
}
