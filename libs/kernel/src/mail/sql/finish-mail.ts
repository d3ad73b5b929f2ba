import { type Sql, statement } from '../../database/sql.js';
import type { ClaimedMail } from './claim-mail.js';

const finish = statement(
  'mail_finish',
  `UPDATE mail_outbox SET content = NULL, due_at = NULL WHERE id = $1 AND attempts = $2`,
);

/** Drops what a mail says: it was delivered or given up. The row stays, to be counted. */
export async function finishMail(
  sql: Sql,
  { id, attempt }: Pick<ClaimedMail, 'id' | 'attempt'>,
): Promise<void> {
  await sql.query(finish, [id, attempt]);
}
