import { type Sql, statement } from '../../database/sql.js';

// An hour longer than it is useful: by then no quota counts the row any more.
const remove = statement(
  'mail_delete_old',
  `DELETE FROM mail_outbox WHERE expires_at <= now() - interval '1 hour'`,
);

// What nobody could send in time; its row is still counted.
const drop = statement(
  'mail_drop_expired',
  `UPDATE mail_outbox SET content = NULL, due_at = NULL
    WHERE due_at IS NOT NULL AND expires_at <= now()`,
);

/** Drops what has become useless. */
export async function deleteMails(sql: Sql): Promise<void> {
  await sql.query(drop, []);
  await sql.query(remove, []);
}
