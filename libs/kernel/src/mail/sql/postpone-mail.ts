import { type Sql, statement } from '../../database/sql.js';
import type { ClaimedMail } from './claim-mail.js';

const postpone = statement(
  'mail_postpone',
  `UPDATE mail_outbox SET due_at = now() + make_interval(secs => $3)
    WHERE id = $1 AND attempts = $2 AND content IS NOT NULL`,
);

/** Lets a mail be claimed again, some seconds from now. */
export async function postponeMail(
  sql: Sql,
  { id, attempt }: Pick<ClaimedMail, 'id' | 'attempt'>,
  seconds: number,
): Promise<void> {
  await sql.query(postpone, [id, attempt, seconds]);
}
