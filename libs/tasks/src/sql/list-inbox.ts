import { type Principal, type Sql, statement } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';
import { TASK_COLUMNS, type TaskRow } from '../task-record.js';

/** Rooms in which the assignee can work: what it cannot claim because of the room is not offered. */
const REACHABLE = `($2::uuid[] IS NULL OR t.room_id = ANY ($2)) AND EXISTS (
  SELECT FROM memberships m JOIN rooms r ON r.id = m.room_id
  WHERE m.room_id = t.room_id AND m.identity_id = $1 AND r.gate = 'open')`;

// What can be claimed comes first, so that a long list of what waits for people or is in work hides none of it. The
// first part reads tasks_queued_idx in its order and stops; the second all that the agent has in work
// (tasks_held_idx), which is never much.
const list = statement<TaskRow>(
  'tasks_list_inbox',
  `SELECT ${TASK_COLUMNS} FROM (
     (SELECT t.*, true AS free FROM tasks t
      WHERE t.assignee_id = $1 AND t.state = 'queued' AND (t.deadline IS NULL OR t.deadline > now()) AND ${REACHABLE}
      ORDER BY t.created_at, t.id LIMIT $3)
     UNION ALL
     (SELECT h.* FROM (
        SELECT t.*, t.state = 'running' AND t.lease_until <= now() AND t.attempts < ${LIMITS.taskClaims}
                    AND (t.deadline IS NULL OR t.deadline > now()) AS free
        FROM tasks t
        WHERE t.assignee_id = $1 AND t.state IN ('running', 'waiting_approval') AND ${REACHABLE}) h
      ORDER BY h.free DESC, h.created_at, h.id LIMIT $3)
   ) t
   ORDER BY t.free DESC, t.created_at, t.id LIMIT $3`,
);

/** The open tasks that are assigned to an identity, as far as its token reaches. */
export function selectInbox(sql: Sql, caller: Principal, limit: number): Promise<TaskRow[]> {
  return sql.query(list, [caller.identityId, caller.roomIds, limit]);
}
