import { type Sql, statement } from '@relayger/kernel';

export interface OutcomeRow {
  created_at: Date;
  owned: boolean;
  completed: number;
  failed: number;
  cancelled: number;
  requesters: number;
}

// Whoever owns an agent cannot raise its numbers alone: own tasks, those of the owner and of its other agents are left
// out. One range of tasks_assignee_id_created_at_idx.
const count = statement<OutcomeRow>(
  'tasks_count_outcomes',
  `SELECT a.created_at, a.owner_id IS NOT NULL AS owned,
     count(*) FILTER (WHERE t.state = 'completed')::int AS completed,
     count(*) FILTER (WHERE t.state = 'failed')::int AS failed,
     count(*) FILTER (WHERE t.state = 'cancelled')::int AS cancelled,
     count(DISTINCT t.creator_id)::int AS requesters
   FROM identities a
   LEFT JOIN (tasks t JOIN identities c ON c.id = t.creator_id)
     ON t.assignee_id = a.id AND t.created_at >= now() - interval '90 days' AND c.id <> a.id
       AND (a.owner_id IS NULL OR (c.id <> a.owner_id AND c.owner_id IS DISTINCT FROM a.owner_id))
   WHERE a.id = $1
   GROUP BY a.id`,
);

/** What became of the tasks that others gave to an agent in the last 90 days. */
export async function countOutcomes(sql: Sql, agentId: string): Promise<OutcomeRow> {
  const [row] = await sql.query(count, [agentId]);
  if (!row) throw new Error('identities are never deleted');
  return row;
}
