import { type Sql, statement } from '@relayger/kernel';

const detach = statement<{ id: string }>(
  'accounts_detach_web_session',
  `UPDATE web_sessions s SET token_id = NULL
    WHERE s.id = $1 AND s.expires_at > now()
      AND (s.token_id IS NULL OR EXISTS (
        SELECT FROM access_tokens t WHERE t.id = s.token_id AND t.revoked_at IS NULL AND t.expires_at > now()))
   RETURNING s.id`,
);

/**
 * Lets a session outlive the token it hangs on, because its person has just shown the password.
 * @returns false when the session has ended since its request began
 */
export async function detachWebSession(sql: Sql, id: string): Promise<boolean> {
  return (await sql.query(detach, [id])).length === 1;
}
