import type pg from 'pg';

const USERS = 10_000;
const ROOMS = 10_000;
const MESSAGES = 40_000;
/** Messages of the first room besides. */
const LONG_ROOM = 10_000;

/** Text for the id of row n of a kind. */
const id = (kind: string, n: string) =>
  `('00000000-0000-4000-${kind}000-' || lpad((${n})::text, 12, '0'))::uuid`;

/**
 * A middling service, large enough that reading a whole table is the dearer plan wherever there is an index to use,
 * and small enough to be made in some seconds: where a plan depends on what the planner guesses, it shows here.
 */
const SEEDS = [
  `INSERT INTO identities (id, number, handle, kind, display_name, owner_id, listed)
   SELECT ${id('8', 'n')}, stem || ((10 - (
       SELECT sum(CASE WHEN pos % 2 = 0 THEN digit ELSE (2 * digit) / 10 + (2 * digit) % 10 END)
       FROM (SELECT pos, substr(stem, 10 - pos, 1)::int AS digit FROM generate_series(1, 9) AS pos) AS digits) % 10) % 10),
     'u' || n, CASE WHEN n % 10 = 0 THEN 'human' ELSE 'agent' END, 'User ' || n,
     CASE WHEN n % 10 = 1 THEN ${id('8', 'n + 9')} END, n % 50 = 0
   FROM (SELECT n, (100000000 + n * 7919)::text AS stem FROM generate_series(1, ${USERS}) AS n) AS stems`,
  `INSERT INTO access_tokens (id, identity_id, hash, scopes, expires_at)
   SELECT gen_random_uuid(), id, sha256(handle::bytea), '{read,write}', now() + interval '1 day' FROM identities`,
  `INSERT INTO web_sessions (id, identity_id, hash, expires_at)
   SELECT gen_random_uuid(), id, sha256(handle::bytea), now() + interval '1 day' FROM identities`,
  `INSERT INTO contacts (identity_id, peer_id, state)
   SELECT ${id('8', 'n')}, ${id('8', `(n + k * 37) % ${USERS} + 1`)},
     (ARRAY['friend', 'incoming', 'removed'])[1 + k % 3]
   FROM generate_series(1, ${USERS}) AS n, generate_series(0, 2) AS k`,
  `INSERT INTO rooms (id, kind, name, owner_id, last_seq)
   SELECT ${id('9', 'n')}, 'group', 'Room ' || n, ${id('8', 'n')},
     CASE n WHEN 1 THEN ${100 + LONG_ROOM} ELSE ${MESSAGES / ROOMS} END
   FROM generate_series(1, ${ROOMS}) AS n`,
  `INSERT INTO memberships (room_id, identity_id, role)
   SELECT ${id('9', 'n')}, ${id('8', `(n + k * 11 - 1) % ${USERS} + 1`)}, CASE k WHEN 0 THEN 'owner' ELSE 'member' END
   FROM generate_series(1, ${ROOMS}) AS n, generate_series(0, 4) AS k`,
  `INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, trace_id, thread_id)
   SELECT ${id('9', `1 + n % ${ROOMS}`)}, 1 + n / ${ROOMS}, ${id('a', 'n')}, ${id('8', `1 + n % ${USERS}`)},
     ${id('a', 'n')}, sha256(n::text::bytea), CASE n % 20 WHEN 0 THEN 'status' WHEN 1 THEN 'data' ELSE 'text' END,
     json_build_object('text', 'common w' || n % 100 || ' x' || n), ${id('a', 'n')},
     CASE WHEN n % 3 = 0 THEN ${id('a', 'n')} END
   FROM generate_series(0, ${MESSAGES - 1}) AS n ORDER BY n`,
  `INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, trace_id)
   SELECT ${id('9', '1')}, 100 + n, ${id('a', '100000 + n')}, ${id('8', '1')}, ${id('a', '100000 + n')}, sha256('m'), 'text',
     json_build_object('text', 'common y' || n), ${id('a', '100000 + n')}
   FROM generate_series(1, ${LONG_ROOM}) AS n`,
  `UPDATE messages SET search = to_tsvector('simple', payload ->> 'text')
     || CASE type WHEN 'data' THEN ''' data'''::tsvector ELSE ''::tsvector END
   WHERE type IN ('text', 'data')`,
  `INSERT INTO files (id, room_id, uploader_id, name, size, sha256, object_key, state)
   SELECT ${id('b', 'n')}, ${id('9', 'n')}, ${id('8', 'n')}, 'f', 1, sha256('f'), 'object-' || n, 'ready'
   FROM generate_series(1, ${ROOMS}) AS n`,
  `INSERT INTO message_files (file_id, message_id)
   SELECT ${id('b', 'n')}, ${id('a', 'n')} FROM generate_series(1, ${ROOMS}) AS n`,
  `INSERT INTO presences (identity_id, state) SELECT id, 'idle' FROM identities`,
  `INSERT INTO tasks (id, room_id, creator_id, client_task_id, fingerprint, assignee_id, root_id, depth, input, state,
                      result, finished_at)
   SELECT ${id('c', 'n')}, ${id('9', `1 + n % ${ROOMS}`)}, ${id('8', `1 + n % ${USERS}`)}, ${id('c', 'n')}, sha256('t'),
     ${id('8', `1 + (n + 7) % ${USERS}`)}, ${id('c', 'n')}, 1, '{}',
     CASE WHEN n % 4 = 0 THEN 'queued' ELSE 'completed' END, CASE WHEN n % 4 > 0 THEN '{}'::json END,
     CASE WHEN n % 4 > 0 THEN now() END
   FROM generate_series(1, ${ROOMS}) AS n`,
  `INSERT INTO task_files (file_id, task_id)
   SELECT ${id('b', 'n')}, ${id('c', 'n')} FROM generate_series(1, ${ROOMS}) AS n`,
  `INSERT INTO runtimes (id, identity_id, name, start, triggers, max_attempts, max_calls_per_hour, concurrency)
   SELECT ${id('d', 'n')}, ${id('8', 'n')}, 'main', 'now', '{direct}', 3, 100, 2 FROM generate_series(1, ${USERS}) AS n`,
  `INSERT INTO runtime_cursors (runtime_id, room_id, seq)
   SELECT ${id('d', 'n')}, ${id('9', 'n')}, 1 FROM generate_series(1, ${USERS}) AS n`,
  `INSERT INTO runtime_deliveries (id, runtime_id, room_id, seq, message_id, state)
   SELECT ${id('e', 'n')}, ${id('d', `1 + n % ${USERS}`)}, ${id('9', `1 + n % ${ROOMS}`)}, 1 + n / ${ROOMS}, ${id('a', 'n')},
     CASE WHEN n % 4 = 0 THEN 'pending' ELSE 'handled' END
   FROM generate_series(0, ${MESSAGES - 1}) AS n`,
  `INSERT INTO runtime_attempts (delivery_id, version, runtime_id, owner)
   SELECT id, 1, runtime_id, id FROM runtime_deliveries`,
];

/** Tables that no request may read as a whole. */
export const LARGE = new Set(SEEDS.map((text) => /INSERT INTO (\w+)/.exec(text)?.[1]));

export async function seedPlans(client: pg.PoolClient): Promise<void> {
  // Foreign keys are not looked at: the rows are made to fit.
  await client.query("SET session_replication_role = 'replica'");
  for (const seed of SEEDS) await client.query(seed);
  await client.query("SET session_replication_role = 'origin'");
  await client.query('VACUUM ANALYZE');
}

/** Row n of a kind, as the seeds made it. */
const sample = (kind: string, n: number) =>
  `00000000-0000-4000-${kind}000-${String(n).padStart(12, '0')}`;

export const SAMPLE = {
  /** Owns the first room. */
  owner: sample('8', 1),
  /** Is in the first room too. */
  member: sample('8', 12),
  room: sample('9', 1),
  message: sample('a', 0),
  reply: sample('a', 30_000),
};
