import { type Sql, statement } from '@relayger/kernel';
import { LIMITS, type Scope } from '@relayger/protocol';

export interface NewWebSession {
  id: string;
  identityId: string;
  tokenId: string | null;
  hash: Buffer;
  scopes: readonly Scope[];
  roomIds: readonly string[] | null;
}

export interface InsertedSession {
  /** With its token, if it hangs on one. */
  expiresAt: Date;
  /** Whether older ones were closed. */
  closed: boolean;
}

// clock_timestamp() as in open-token: the order of created_at is the order in which sessions are closed. least()
// leaves out the null of a session without a token.
const insert = statement<InsertedSession>(
  'accounts_open_web_session',
  `WITH closed AS (
     DELETE FROM web_sessions
      WHERE id IN (SELECT id FROM web_sessions WHERE identity_id = $2
                    ORDER BY created_at DESC, id DESC OFFSET ${LIMITS.webSessions - 1})
     RETURNING id
   )
   INSERT INTO web_sessions
     (id, identity_id, token_id, hash, scopes, room_restricted, room_ids, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6::uuid[] IS NOT NULL, coalesce($6, '{}'), clock_timestamp(),
           least(now() + interval '${LIMITS.webSessionHours} hours',
                 (SELECT expires_at FROM access_tokens WHERE id = $3)))
   RETURNING expires_at AS "expiresAt", EXISTS (SELECT FROM closed) AS closed`,
);

/**
 * Opens a web session and closes the oldest ones beyond the cap. The caller holds the identity's credentials row
 * locked; without it two sign-ins could both count the same 19 sessions.
 */
export async function insertWebSession(sql: Sql, session: NewWebSession): Promise<InsertedSession> {
  const { id, identityId, tokenId, hash, scopes, roomIds } = session;
  const rows = await sql.query(insert, [id, identityId, tokenId, hash, scopes, roomIds]);
  return rows[0] as InsertedSession;
}
