import { type Principal, type Sql, statement } from '@relayger/kernel';

export interface NewTaskCheck {
  gate: 'open' | 'closed' | 'blocked';
  /** Whether the assignee is an active agent that is in the room. */
  assignable: boolean;
  in_time: boolean;
}

const check = statement<NewTaskCheck>(
  'tasks_check_new',
  `SELECT r.gate, coalesce($5::timestamptz > clock_timestamp(), true) AS in_time, EXISTS (
     SELECT FROM memberships a JOIN identities i ON i.id = a.identity_id
     WHERE a.room_id = $1 AND a.identity_id = $4 AND i.kind = 'agent' AND i.disabled_at IS NULL
   ) AS assignable
   FROM memberships m JOIN rooms r ON r.id = m.room_id
   WHERE m.room_id = $1 AND m.identity_id = $2 AND ($3::uuid[] IS NULL OR r.id = ANY ($3))`,
);

/** What stands in the way of a new task; null when its creator has no access to the room. */
export async function checkNewTask(
  sql: Sql,
  creator: Principal,
  { roomId, assigneeId, deadline }: { roomId: string; assigneeId: string; deadline: Date | null },
): Promise<NewTaskCheck | null> {
  const values = [roomId, creator.identityId, creator.roomIds, assigneeId, deadline];
  const [row] = await sql.query(check, values);
  return row ?? null;
}
