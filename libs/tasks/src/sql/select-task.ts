import { type Principal, type Sql, statement } from '@relayger/kernel';
import { TASK_COLUMNS, type TaskRow } from '../task-record.js';

const find = statement<TaskRow>(
  'tasks_get',
  `SELECT ${TASK_COLUMNS} FROM tasks t
   JOIN memberships m ON m.room_id = t.room_id AND m.identity_id = $2
   JOIN rooms r ON r.id = t.room_id AND r.gate <> 'blocked'
   WHERE t.id = $1 AND ($3::uuid[] IS NULL OR t.room_id = ANY ($3))`,
);

// Whoever created a task can end it also across a block, which hides it from both sides otherwise: nobody could.
const findToCancel = statement<{ may_cancel: boolean }>(
  'tasks_get_to_cancel',
  `SELECT t.creator_id = $2 OR coalesce(r.owner_id = $2, false) AS may_cancel FROM tasks t
   JOIN memberships m ON m.room_id = t.room_id AND m.identity_id = $2
   JOIN rooms r ON r.id = t.room_id AND (r.gate <> 'blocked' OR t.creator_id = $2)
   WHERE t.id = $1 AND ($3::uuid[] IS NULL OR t.room_id = ANY ($3))`,
);

const record = statement<TaskRow>(
  'tasks_get_record',
  `SELECT ${TASK_COLUMNS} FROM tasks t WHERE t.id = $1`,
);

/** A task as a member of its room may read it, null for everybody else. */
export async function selectTask(
  sql: Sql,
  taskId: string,
  caller: Principal,
): Promise<TaskRow | null> {
  const [row] = await sql.query(find, [taskId, caller.identityId, caller.roomIds]);
  return row ?? null;
}

/** A task that the caller knows of, and whether it may cancel it: its own, or one of its room. */
export async function selectToCancel(
  sql: Sql,
  taskId: string,
  caller: Principal,
): Promise<{ may_cancel: boolean } | null> {
  const [row] = await sql.query(findToCancel, [taskId, caller.identityId, caller.roomIds]);
  return row ?? null;
}

/** A task, whoever asks. */
export async function selectRecord(sql: Sql, taskId: string): Promise<TaskRow | null> {
  const [row] = await sql.query(record, [taskId]);
  return row ?? null;
}
