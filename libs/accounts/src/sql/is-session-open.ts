import { type Sql, statement } from '@relayger/kernel';

const isOpen = statement(
  'accounts_is_session_open',
  'SELECT 1 FROM web_sessions WHERE id = $1 AND expires_at > now()',
);

/** Whether a web session that was open when its request began still is. */
export async function isSessionOpen(sql: Sql, sessionId: string): Promise<boolean> {
  return (await sql.query(isOpen, [sessionId])).length === 1;
}
