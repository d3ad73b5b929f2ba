import { type Sql, statement } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';
import { TASK_COLUMNS, type TaskRow } from '../task-record.js';

/** One worker that wants one task. */
export interface ClaimItem {
  taskId: string;
  callerId: string;
  /** Rooms that the worker's token is limited to; null means no limit. */
  allowedRooms: readonly string[] | null;
  /** The lease it will hold. */
  leaseOwner: string;
}

export type ClaimOutcome =
  | 'claimed'
  | 'no_task'
  | 'no_contact'
  | 'not_assignee'
  | 'taken'
  | 'too_late'
  /** It waited for an approval when its lease ended: approvals say whether it may go on. */
  | 'waiting';

/** The task's own columns are null unless it was claimed. */
export interface ClaimRow extends TaskRow {
  outcome: ClaimOutcome;
}

/**
 * Any number of claims in one statement and one commit, so that workers that come together share both.
 *
 * `held` takes the tasks one after the other, roots first, as everything does that takes more than one; a claim that
 * had to wait sees the task as it is by then. Not SKIP LOCKED: a task is also held for a moment while a message of its
 * tree is counted, and is free all the same. Of two claims of one task in the same statement the first wins. Whether the sweep has been there already
 * makes no difference to a claim that comes after the deadline: of what the sweep ends nobody keeps the lease.
 */
const claimTasks = statement<ClaimRow>(
  'tasks_claim',
  `WITH item AS MATERIALIZED (
     SELECT * FROM json_to_recordset($1::json) AS i(
       ord int, task_id uuid, caller_id uuid, allowed_rooms uuid[], lease_owner uuid)
   ),
   held AS MATERIALIZED (
     SELECT t.id, t.room_id, t.assignee_id, t.state, t.deadline, t.attempts, t.lease_until, t.lease_owner
     FROM tasks t WHERE t.id = ANY (ARRAY(SELECT task_id FROM item))
     ORDER BY t.depth, t.id
     FOR NO KEY UPDATE OF t
   ),
   judged AS MATERIALIZED (
     SELECT i.ord, i.task_id, i.lease_owner, CASE
       WHEN g.gate IS NULL OR g.gate = 'blocked' THEN 'no_task'
       WHEN g.gate = 'closed' THEN 'no_contact'
       WHEN h.assignee_id <> i.caller_id THEN 'not_assignee'
       WHEN h.state = 'failed' AND h.lease_owner IS NULL AND h.deadline <= clock_timestamp() THEN 'too_late'
       WHEN h.state NOT IN ('queued', 'running', 'waiting_approval') OR h.lease_until > clock_timestamp() THEN 'taken'
       WHEN h.deadline <= clock_timestamp() THEN 'too_late'
       WHEN h.state = 'waiting_approval' THEN 'waiting'
       WHEN h.attempts >= ${LIMITS.taskClaims} THEN 'taken'
       ELSE 'claimed'
     END AS outcome
     FROM item i LEFT JOIN held h ON h.id = i.task_id
     LEFT JOIN LATERAL (
       SELECT r.gate FROM memberships m JOIN rooms r ON r.id = m.room_id
       WHERE m.room_id = h.room_id AND m.identity_id = i.caller_id
         AND (i.allowed_rooms IS NULL OR r.id = ANY (i.allowed_rooms)) LIMIT 1) g ON true
   ),
   winner AS (
     SELECT DISTINCT ON (task_id) ord, task_id, lease_owner FROM judged WHERE outcome = 'claimed' ORDER BY task_id, ord
   ),
   won AS (
     UPDATE tasks t SET state = 'running', version = t.version + 1, attempts = t.attempts + 1,
       lease_owner = w.lease_owner, lease_until = clock_timestamp() + interval '${LIMITS.leaseSeconds} s',
       updated_at = clock_timestamp()
     FROM winner w WHERE t.id = w.task_id
     RETURNING w.ord, ${TASK_COLUMNS}
   )
   SELECT CASE WHEN j.outcome = 'claimed' AND t.ord IS NULL THEN 'taken' ELSE j.outcome END AS outcome, ${TASK_COLUMNS}
   FROM judged j LEFT JOIN won t ON t.ord = j.ord
   ORDER BY j.ord`,
);

/** Claims tasks; answers one row an item, in their order. */
export function leaseTasks(sql: Sql, items: readonly ClaimItem[]): Promise<ClaimRow[]> {
  const records = items.map(({ taskId, callerId, allowedRooms, leaseOwner }, ord) => ({
    ord,
    task_id: taskId,
    caller_id: callerId,
    allowed_rooms: allowedRooms,
    lease_owner: leaseOwner,
  }));
  return sql.query(claimTasks, [JSON.stringify(records)]);
}

// It is held, and its approval was looked at. The wait for a person was no attempt, so this is none.
const resume = statement<TaskRow>(
  'tasks_resume',
  `UPDATE tasks t SET state = 'running', version = version + 1, lease_owner = $2,
     lease_until = clock_timestamp() + interval '${LIMITS.leaseSeconds} s', updated_at = clock_timestamp()
   WHERE id = $1 AND state = 'waiting_approval' AND lease_until <= clock_timestamp()
     AND (deadline IS NULL OR deadline > clock_timestamp())
   RETURNING ${TASK_COLUMNS}`,
);

/** Leases a task again that waited for an approval; null when it does not wait any more, or is leased. */
export async function resumeTask(
  sql: Sql,
  taskId: string,
  leaseOwner: string,
): Promise<TaskRow | null> {
  const [row] = await sql.query(resume, [taskId, leaseOwner]);
  return row ?? null;
}
