import { type Sql, statement } from '@relayger/kernel';
import type { Member } from '@relayger/protocol';

interface MemberRow {
  id: string;
  number: string;
  handle: string;
  kind: Member['kind'];
  role: Member['role'];
  delivered_seq: string;
  seen_seq: string;
}

// delivered_seq as in list-rooms.ts: up to the first message that really is pending. Handles sort by their bytes.
const listMembers = statement<MemberRow>(
  'rooms_list_members',
  `SELECT i.id, i.number, i.handle, i.kind, m.role, m.seen_seq,
          greatest(m.delivered_seq, coalesce(pending.first_seq - 1, r.last_seq)) AS delivered_seq
   FROM memberships m
   JOIN rooms r ON r.id = m.room_id
   JOIN identities i ON i.id = m.identity_id
   LEFT JOIN LATERAL (
     SELECT seq AS first_seq FROM messages
     WHERE room_id = r.id AND seq > m.delivered_seq AND sender_id <> m.identity_id
       AND type NOT IN ('status', 'progress')
     ORDER BY seq LIMIT 1
   ) AS pending ON r.last_seq > m.delivered_seq
   WHERE m.room_id = $1
   ORDER BY m.role = 'owner' DESC, i.handle`,
);

/** Who is in a room: the owner first, then by handle. */
export async function selectMembers(sql: Sql, roomId: string): Promise<Member[]> {
  const rows = await sql.query(listMembers, [roomId]);
  return rows.map(({ delivered_seq, seen_seq, ...member }) => ({
    ...member,
    deliveredSequence: delivered_seq,
    ...(member.kind === 'human' && { seenSequence: seen_seq }),
  }));
}
