import { type Sql, statement } from '@relayger/kernel';

const move = statement(
  'accounts_move_web_sessions',
  'UPDATE web_sessions SET token_id = $2 WHERE token_id = $1',
);

/** Hangs the web sessions of a token on the one that takes its place. */
export async function moveWebSessions(sql: Sql, from: string, to: string): Promise<void> {
  await sql.query(move, [from, to]);
}
