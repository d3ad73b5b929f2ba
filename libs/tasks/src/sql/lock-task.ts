import { type Principal, type Sql, statement } from '@relayger/kernel';
import { TASK_COLUMNS, type TaskRow } from '../task-record.js';

export interface LockedTask extends TaskRow {
  /** Whether its lease still lasts, on the clock of the database. */
  leased: boolean;
  /** Of its room, as far as the caller is a member of it; null for everybody else. */
  gate: 'open' | 'closed' | 'blocked' | null;
  tree_tasks: number;
  tree_messages: number;
}

/**
 * A task and its root, held until the end of the transaction. The root comes first: whoever takes more than one task
 * of a tree takes its root before, so that no two can wait for each other. The look at the room belongs to the
 * statement's snapshot, the tasks are as they are once they are held.
 */
const lockTask = statement<LockedTask>(
  'tasks_lock',
  `SELECT ${TASK_COLUMNS}, t.tree_tasks, t.tree_messages,
     coalesce(t.lease_until > clock_timestamp(), false) AS leased,
     (SELECT r.gate FROM memberships m JOIN rooms r ON r.id = m.room_id
      WHERE m.room_id = t.room_id AND m.identity_id = $2 AND ($3::uuid[] IS NULL OR r.id = ANY ($3))) AS gate
   FROM tasks t
   WHERE t.id = ANY (ARRAY(SELECT unnest(ARRAY[id, root_id]) FROM tasks WHERE id = $1))
   ORDER BY t.depth
   FOR NO KEY UPDATE OF t`,
);

export interface HeldTask {
  task: LockedTask;
  /** The same as `task` for a root task. */
  root: LockedTask;
}

/**
 * Holds a task and its root; null when there is none.
 * @param caller whose membership `gate` tells
 */
export async function lockTaskAndRoot(
  sql: Sql,
  taskId: string,
  caller: Pick<Principal, 'identityId' | 'roomIds'> | null,
): Promise<HeldTask | null> {
  const values = [taskId, caller?.identityId ?? null, caller?.roomIds ?? null];
  const rows = await sql.query(lockTask, values);
  const root = rows[0];
  const task = rows.at(-1);
  return root && task ? { task, root } : null;
}
