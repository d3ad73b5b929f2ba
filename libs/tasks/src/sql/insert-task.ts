import { type Sql, statement } from '@relayger/kernel';
import { TASK_COLUMNS, type TaskRow } from '../task-record.js';

export interface NewTask {
  id: string;
  roomId: string;
  creatorId: string;
  clientTaskId: string;
  fingerprint: Buffer;
  assigneeId: string;
  /** Null for a root task. */
  parent: { id: string; rootId: string; depth: number } | null;
  /** JSON. */
  input: string;
  deadline: Date | null;
}

// A parallel retry of the same key waits here until the first one has committed, and then inserts nothing. The event
// of a root task is the first message of its tree.
const insert = statement<TaskRow>(
  'tasks_insert',
  `INSERT INTO tasks AS t (id, room_id, creator_id, client_task_id, fingerprint, assignee_id, parent_id, root_id, depth,
                           input, deadline, tree_messages, created_at, updated_at)
   SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, CASE WHEN $7::uuid IS NULL THEN 1 ELSE 0 END, now, now
   FROM clock_timestamp() AS now
   ON CONFLICT (creator_id, client_task_id) DO NOTHING
   RETURNING ${TASK_COLUMNS}`,
);

const grow = statement(
  'tasks_grow_tree',
  'UPDATE tasks SET tree_tasks = tree_tasks + 1, tree_messages = tree_messages + 1 WHERE id = $1',
);

/** Stores a task; null when its key is taken. For a subtask hold its root, which counts it and its event. */
export async function insertTask(sql: Sql, task: NewTask): Promise<TaskRow | null> {
  const { parent } = task;
  const [row] = await sql.query(insert, [
    task.id,
    task.roomId,
    task.creatorId,
    task.clientTaskId,
    task.fingerprint,
    task.assigneeId,
    parent?.id ?? null,
    parent?.rootId ?? task.id,
    parent ? parent.depth + 1 : 1,
    task.input,
    task.deadline,
  ]);
  if (!row) return null;
  if (parent) await sql.query(grow, [parent.rootId]);
  return row;
}
