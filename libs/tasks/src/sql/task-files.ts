import { type Sql, statement } from '@relayger/kernel';

const link = statement(
  'tasks_link_files',
  `INSERT INTO task_files (file_id, task_id)
   SELECT id, $1 FROM files WHERE id = ANY ($3::uuid[]) AND room_id = $2 AND state = 'ready'
   ON CONFLICT DO NOTHING`,
);

const used = statement<{ file_id: string }>(
  'tasks_used_files',
  'SELECT DISTINCT file_id FROM task_files WHERE file_id = ANY ($1::uuid[])',
);

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * Notes which files of the room a task names, wherever in its JSON. Hold the room's lock: a retraction at the same
 * time then sees it.
 */
export async function linkFiles(
  sql: Sql,
  { id, room_id }: { id: string; room_id: string },
  content: unknown,
): Promise<void> {
  const named = JSON.stringify(content).match(UUIDS);
  if (named) await sql.query(link, [id, room_id, [...new Set(named)]]);
}

/** Those of the files that a task names. */
export async function selectUsedFiles(sql: Sql, fileIds: readonly string[]): Promise<string[]> {
  return (await sql.query(used, [fileIds])).map(({ file_id }) => file_id);
}
