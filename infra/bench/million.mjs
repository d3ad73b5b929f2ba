import { randomInt } from 'node:crypto';
import { createAgents } from './agents.mjs';
import { HttpConnection, requestText } from './http-connection.mjs';
import { seedRooms, settle } from './seeds.mjs';
import { spread } from './statistics.mjs';

const LARGE_ROOMS = 4;
const SMALL_ROOMS = 1000;
/** Of all messages, so many in a hundred are in the large rooms. */
const LARGE_SHARE = 60;
/** Words by how often they occur, the first most often (Zipf). */
const VOCABULARY = 50_000;
const WORDS = 16;
const WARM_UP = 10;
const BATCH = 50_000;
const CLASSES = { common: [1, 20], medium: [20, 2_000], rare: [2_000, VOCABULARY] };

export const jobs = {
  /** Requests one after the other. */
  async oneByOne({ port, requests }) {
    const connection = await HttpConnection.open(port);
    const samples = [];
    let found = 0;
    for (const [n, request] of requests.entries()) {
      const started = performance.now();
      const { status, body } = await connection.send(request);
      const took = performance.now() - started;
      if (status !== 200) throw new Error(`answered ${status}: ${body}`);
      found += JSON.parse(body).length;
      if (n >= WARM_UP) samples.push(took);
    }
    connection.close();
    return { ...spread(samples), found: found / requests.length };
  },
};

/** (f) A page of history and a search, with a million messages stored. */
export async function measure(stage, { messages, samples }, say) {
  const { database } = stage;
  const [owner, few, many] = await createAgents(database, 3);
  const large = await seedRooms(database, LARGE_ROOMS, owner, few);
  const small = await seedRooms(database, SMALL_ROOMS, owner, many);
  await seedMessages(database, { large, small, messages, senders: [owner, few, many] }, say);

  const run = (requests) => stage.generate('oneByOne', { port: stage.product.port, requests });
  const times = (count, request) => Array.from({ length: count + WARM_UP }, request);
  const inLargest = Math.floor((messages * LARGE_SHARE) / 100 / LARGE_ROOMS);
  const history = await run(
    times(samples, () => {
      const room = large[randomInt(LARGE_ROOMS)];
      const path = `/v1/rooms/${room}/messages?limit=50&before=${randomInt(100, inLargest)}`;
      return requestText('GET', path, { token: few.token });
    }),
  );
  const ms = ({ p50, p99 }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  say(`a page of 50 anywhere in a room of ${inLargest}: ${ms(history)}`);

  const searches = {};
  for (const [rooms, { token }] of [
    [`${LARGE_ROOMS} rooms`, few],
    [`${SMALL_ROOMS} rooms`, many],
  ]) {
    for (const [frequency, [from, to]] of Object.entries(CLASSES)) {
      const requests = times(samples, () => {
        const word = Math.floor(from * (to / from) ** Math.random());
        return requestText('GET', `/v1/search?q=w${word}`, { token });
      });
      const result = await run(requests);
      if (result.found === 0)
        throw new Error('no search finds anything: the messages written here have no words');
      searches[`${frequency}, ${rooms}`] = result;
      say(`search, ${frequency} words, ${rooms}: ${ms(result)}, ${result.found.toFixed(0)} found`);
    }
  }
  const worst = Math.max(...Object.values(searches).map(({ p99 }) => p99));
  const row = (what, value) => ({
    ...{ what, value: `${value.toFixed(1)} ms`, target: '≤ 50 ms', ok: value <= 50 },
  });
  return {
    rows: [
      row(`(f) page of history among ${messages} messages, p99`, history.p99),
      row(`(f) search among ${messages} messages, p99 of the slowest kind`, worst),
    ],
    raw: { messages, history, searches },
  };
}

/** Messages of every room mixed in time, as a server would have got them. The index of words is made afterwards. */
async function seedMessages(database, { large, small, messages, senders }, say) {
  const began = performance.now();
  const { rows } = await database.query(
    `SELECT indexdef FROM pg_indexes WHERE indexname = 'messages_search_idx'`,
  );
  await database.query('DROP INDEX messages_search_idx');
  await database.query(
    'CREATE TEMP TABLE bench_seqs (room_id uuid PRIMARY KEY, seq bigint NOT NULL)',
  );
  await database.query('INSERT INTO bench_seqs SELECT unnest($1::uuid[]), 0', [
    [...large, ...small],
  ]);
  for (let from = 0; from < messages; from += BATCH) {
    await database.query(
      `WITH draw AS MATERIALIZED (
         SELECT n, CASE WHEN random() * 100 < ${LARGE_SHARE} THEN ($1::uuid[])[1 + floor(random() * $2::int)::int]
                        ELSE ($3::uuid[])[1 + floor(random() * $4::int)::int] END AS room_id
         FROM generate_series($5::int, $6::int) AS n
       ),
       numbered AS (
         SELECT d.*, s.seq + row_number() OVER (PARTITION BY d.room_id ORDER BY n) AS seq
         FROM draw d JOIN bench_seqs s ON s.room_id = d.room_id
       ),
       stored AS (
         INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, search, trace_id, created_at)
         SELECT room_id, seq, uuidv7(), ($7::uuid[])[1 + n % 3], gen_random_uuid(), sha256(n::text::bytea),
           'text', json_build_object('text', words), to_tsvector('simple', words),
           gen_random_uuid(), now() + ($8::int - n) * interval '-1 second'
         FROM numbered CROSS JOIN LATERAL (
           SELECT string_agg('w' || floor(${VOCABULARY}::float8 ^ random())::int, ' ') AS words
           FROM generate_series(1, ${WORDS} + n % 2)) AS t
         ORDER BY n
         RETURNING room_id, seq
       )
       UPDATE bench_seqs b SET seq = s.seq
       FROM (SELECT room_id, max(seq) AS seq FROM stored GROUP BY room_id) s WHERE b.room_id = s.room_id`,
      [
        large,
        large.length,
        small,
        small.length,
        from,
        Math.min(from + BATCH, messages) - 1,
        senders.map(({ id }) => id),
        messages,
      ],
    );
  }
  await database.query(
    'UPDATE rooms r SET last_seq = b.seq FROM bench_seqs b WHERE b.room_id = r.id',
  );
  await database.query(rows[0].indexdef);
  await settle(database);
  say(`${messages} messages written: ${((performance.now() - began) / 1000).toFixed(0)} s`);
}
