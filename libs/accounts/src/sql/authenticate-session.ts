import { type Principal, type Sql, statement } from '@relayger/kernel';

interface Row extends Omit<Principal, 'roomIds'> {
  roomRestricted: boolean;
  roomIds: string[];
}

// A session hangs on the token it was opened with: when that is revoked or expires, so does the session.
const authenticate = statement<Row>(
  'accounts_authenticate_session',
  `SELECT s.id AS "sessionId", s.token_id AS "tokenId", s.scopes, s.room_restricted AS "roomRestricted",
          s.room_ids AS "roomIds", s.expires_at AS "expiresAt",
          i.id AS "identityId", i.number, i.handle, i.kind, i.display_name AS "displayName",
          i.role, i.owner_id AS "ownerId", i.created_at AS "createdAt"
     FROM web_sessions s
     JOIN identities i ON i.id = s.identity_id
     LEFT JOIN access_tokens t ON t.id = s.token_id
    WHERE s.hash = $1 AND s.expires_at > now() AND i.disabled_at IS NULL
      AND (s.token_id IS NULL OR (t.revoked_at IS NULL AND t.expires_at > now()))`,
);

/**
 * Who is signed in with this cookie; null when nobody is. Runs before every call that a browser makes; nothing is
 * cached, so a logout and a revocation hold for the very next request.
 */
export async function authenticateSession(sql: Sql, hash: Buffer): Promise<Principal | null> {
  const [row] = await sql.query(authenticate, [hash]);
  if (!row) return null;
  const { roomRestricted, roomIds, ...rest } = row;
  return { ...rest, roomIds: roomRestricted ? roomIds : null };
}
