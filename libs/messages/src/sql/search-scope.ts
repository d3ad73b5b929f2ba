import { type Sql, statement } from '@relayger/kernel';
import type { Address } from '@relayger/protocol';
import type { Position } from './search-walk.js';

/** Where a search looks. */
export interface SearchScope {
  /** Who the address is; null for nobody. */
  sender_id: string | null;
  /** About how many messages the service has; 0 when that is not known yet. */
  stored: number;
  /** The rooms that the caller can read now, each with its newest message that may be early enough. */
  rooms: Position[];
}

/** In a room this small every message is looked at, whatever its time. */
const SMALL_ROOM = 100;

// With `until`, the search starts at the last message before it. Within a room time follows the sequence, so halving
// finds it in 20 look-ups of a million, where walking back would pass everything that was said since.
const findScope = statement<SearchScope>(
  'messages_search_scope',
  `SELECT (
       SELECT id FROM identities WHERE $4 = 'number' AND number = $5
       UNION ALL SELECT id FROM identities WHERE $4 = 'handle' AND handle = $5
       UNION ALL SELECT id FROM identities
         WHERE $4 = 'id' AND id = CASE WHEN $4 = 'id' THEN $5::uuid END LIMIT 1) AS sender_id,
     (SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = 'messages'::regclass) AS stored,
     coalesce(json_agg(json_build_object('room', s.room_id, 'newest', s.newest::text)), '[]') AS rooms
   FROM (
     SELECT m.room_id, CASE WHEN $6::float8 IS NULL OR r.last_seq <= ${SMALL_ROOM} THEN r.last_seq ELSE (
       WITH RECURSIVE half (low, high) AS (
         SELECT 0::bigint, r.last_seq
         UNION ALL
         SELECT CASE WHEN h.early THEN h.middle ELSE h.low END, CASE WHEN h.early THEN h.high ELSE h.middle - 1 END
         FROM (
           SELECT low, high, middle, coalesce(
             (SELECT created_at < to_timestamp($6 / 1000) FROM messages WHERE room_id = m.room_id AND seq = middle), false) AS early
           FROM (SELECT low, high, (low + high + 1) / 2 AS middle FROM half WHERE low < high) AS halves
         ) AS h
       )
       SELECT low FROM half WHERE low >= high LIMIT 1) END AS newest
     FROM memberships m
     JOIN LATERAL (SELECT last_seq FROM rooms WHERE id = m.room_id AND gate <> 'blocked' LIMIT 1) r ON true
     WHERE m.identity_id = $1 AND ($2::uuid[] IS NULL OR m.room_id = ANY ($2))
       AND ($3::uuid IS NULL OR m.room_id = $3)
   ) AS s`,
);

export interface ScopeAsk {
  identityId: string;
  /** Rooms that the caller's token is limited to; null means no limit. */
  roomIds: readonly string[] | null;
  room: string | undefined;
  sender: Address | null;
  /** Milliseconds since 1970. */
  until: number | undefined;
}

/** Looks up everything that a search needs to know first. */
export async function selectSearchScope(sql: Sql, ask: ScopeAsk): Promise<SearchScope> {
  const { identityId, roomIds, room, sender, until } = ask;
  const values = [identityId, roomIds, room, sender?.kind, sender?.value, until];
  const [scope] = await sql.query(findScope, values);
  return scope as SearchScope;
}
