import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { crowd, group, upTo } from './support.js';

// Enough messages that a search takes every one of its ways: the walk alone, the index, and the walk again where the
// index finds too much. Whatever the way, it must find what reading everything finds.

const LARGE = 15_000;
const SMALL = 40;

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let large: string;
let rooms: string[];

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = (await crowd(t, 2)) as [TestAgent, TestAgent];
  rooms = await Promise.all(upTo(SMALL).map(() => group(t, alice)));
  large = rooms[0] as string;
  const { pool } = t.database;
  await pool.query(
    `INSERT INTO memberships (room_id, identity_id, role) SELECT unnest($1::uuid[]), $2, 'member'`,
    [rooms, bob.id],
  );
  // Half of all in one room, the rest more and more thinly in the others. "old" stands in the older 12,000 messages,
  // "common" in every second, "medium" in every 50th, "rare" in every 3,000th.
  await pool.query(
    `WITH every AS (
       SELECT n, ($1::uuid[])[CASE WHEN n % 2 = 0 THEN 1 ELSE 1 + floor($2 * power(n % 997 / 997.0, 3))::int END] AS room_id
       FROM generate_series(1, $3::int) AS n
     )
     INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, trace_id, created_at)
     SELECT room_id, row_number() OVER (PARTITION BY room_id ORDER BY n), uuidv7(),
       CASE WHEN n % 7 = 0 THEN $4::uuid ELSE $5::uuid END, gen_random_uuid(), sha256('m'),
       CASE WHEN n % 11 = 0 THEN 'data' WHEN n % 13 = 0 THEN 'status' ELSE 'text' END,
       json_strip_nulls(json_build_object('schema', CASE WHEN n % 11 = 0 THEN 'x.v1' END, 'data',
         CASE WHEN n % 11 = 0 THEN '{}'::json END, 'text', concat_ws(' ', 'n' || n, CASE WHEN n % 2 = 0 THEN 'common' END,
         CASE WHEN n % 50 < 2 THEN 'medium' END, CASE WHEN n % 3000 < 2 THEN 'rare' END,
         CASE WHEN n <= 25000 THEN 'old' END))),
       gen_random_uuid(), timestamptz '2026-05-01' + n * interval '1 minute'
     FROM every ORDER BY n`,
    [rooms, SMALL, 2 * LARGE, alice.id, bob.id],
  );
  await pool.query(
    `UPDATE messages SET search = to_tsvector('simple', payload ->> 'text')
       || CASE type WHEN 'data' THEN ''' data'''::tsvector ELSE ''::tsvector END
     WHERE type IN ('text', 'data')`,
  );
  await pool.query(
    `UPDATE rooms r SET last_seq = (SELECT coalesce(max(seq), 0) FROM messages WHERE room_id = r.id)`,
  );
  await pool.query('VACUUM ANALYZE messages');
}, 60_000);
afterAll(() => t.close());

interface Filters {
  room?: string;
  sender?: string;
  type?: 'text' | 'data';
  since?: string;
  until?: string;
}

/** The same without any index or order of steps. */
async function readEverything(q: string, filters: Filters, limit: number): Promise<string[]> {
  const { rows } = await t.database.pool.query(
    `SELECT id FROM messages
     WHERE type IN ('text', 'data') AND to_tsvector('simple', payload ->> 'text') @@ plainto_tsquery('simple', $1)
       AND ($2::uuid IS NULL OR room_id = $2) AND ($3::uuid IS NULL OR sender_id = $3)
       AND ($4::text IS NULL OR type = $4)
       AND ($5::timestamptz IS NULL OR created_at >= $5) AND ($6::timestamptz IS NULL OR created_at < $6)
     ORDER BY created_at DESC LIMIT $7`,
    [q, filters.room, filters.sender, filters.type, filters.since, filters.until, limit],
  );
  return rows.map(({ id }) => id);
}

const WORDS = [
  'common',
  'medium',
  'rare',
  'old',
  'common old',
  'common medium old',
  'n77',
  'n20 old',
  'nothing',
];
const FILTERS: [string, () => Filters][] = [
  ['everywhere', () => ({})],
  ['in one large room', () => ({ room: large })],
  ['in one small room', () => ({ room: rooms[30] as string })],
  ['from one sender', () => ({ sender: alice.id })],
  ['texts', () => ({ type: 'text' })],
  ['data', () => ({ type: 'data' })],
  ['until long ago', () => ({ until: '2026-05-03T00:00:00Z' })],
  ['since lately', () => ({ since: '2026-05-20T00:00:00Z' })],
  ['in a span', () => ({ since: '2026-05-02T00:00:00Z', until: '2026-05-04T00:00:00Z' })],
  [
    'data of one sender in one room in a span',
    () => ({
      ...{ room: large, sender: bob.id, type: 'data' },
      ...{ since: '2026-05-02T00:00:00Z', until: '2026-05-09T00:00:00Z' },
    }),
  ],
];

test.each(FILTERS)('finds what reading everything finds: %s', async (_name, filters) => {
  for (const q of WORDS) {
    for (const limit of [1, 20, 100]) {
      const query = { q, limit, ...filters() };
      const { body } = await t.api.call('searchMessages', { token: bob.token, query, expect: 200 });
      const ids = body.map(({ messageId }) => messageId);
      expect({ q, limit, ids }).toEqual({
        q,
        limit,
        ids: await readEverything(q, filters(), limit),
      });
    }
  }
});

test('searches that come together are all answered', async () => {
  const replies = await Promise.all(
    upTo(40).map((n) =>
      t.api.call('searchMessages', {
        token: n % 2 ? alice.token : bob.token,
        query: { q: WORDS[n % WORDS.length] as string },
        expect: 200,
      }),
    ),
  );
  expect(replies.filter(({ body }) => body.length > 0).length).toBeGreaterThan(30);
});
