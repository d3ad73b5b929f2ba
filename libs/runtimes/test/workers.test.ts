import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { claim, endLeases, finish, group, pair, register, upTo } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

const JOBS = 400;

/** Questions of a group, stored at once: sending them is not what is tested. */
async function fill(asker: TestAgent, worker: TestAgent, room: string): Promise<void> {
  await t.database.pool.query(
    `INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, mentions, attention, trace_id)
     SELECT $1, n, gen_random_uuid(), $2, gen_random_uuid(), '\\x00', 'text', '{"text":"job"}', ARRAY[$3::uuid],
            '{"kind":"question"}', gen_random_uuid()
     FROM generate_series(1, $4::int) AS n`,
    [room, asker.id, worker.id, JOBS],
  );
  await t.database.pool.query('UPDATE rooms SET last_seq = $2 WHERE id = $1', [room, JOBS]);
}

test('sixteen workers of two processes, half of which vanish with a job, handle every job exactly once', async () => {
  const { asker, worker } = await pair(t);
  const room = await group(t, asker, worker);
  await fill(asker, worker, room);
  const policy = { concurrency: 8, maxAttempts: 5, maxCallsPerHour: 100_000 };
  const { id } = await register(t, worker, { policy });
  const replica = await t.replica();
  const doors = [t, { api: replica.api }];
  const handled: string[] = [];
  let vanished = 0;
  const deadline = Date.now() + 60_000;

  await Promise.all(
    upTo(16).map(async (n) => {
      const door = doors[n % 2] as TestApi;
      let mine = 0;
      while (handled.length < JOBS && Date.now() < deadline) {
        const job = await claim(door, worker, id);
        if (!job) {
          await sleep(5);
          continue;
        }
        if (n > 8 && ++mine > 5) {
          // Gone without a word; the lease ends some time later.
          vanished++;
          await endLeaseOf(job.id);
          return;
        }
        await finish(door, worker, id, job, n % 4 === 0 ? { reply: 'done' } : {});
        handled.push(job.messageId);
      }
    }),
  );
  await replica.close();

  expect(vanished).toBe(8);
  expect(handled).toHaveLength(JOBS);
  expect(new Set(handled).size).toBe(JOBS);
  const { rows } = await t.database.pool.query<{ state: string; count: number; seqs: number }>(
    `SELECT state, count(*)::int AS count, count(DISTINCT seq)::int AS seqs FROM runtime_deliveries
     WHERE runtime_id = $1 GROUP BY state`,
    [id],
  );
  expect(rows).toEqual([{ state: 'handled', count: JOBS, seqs: JOBS }]);
  const replies = await t.database.pool.query<{ count: number; answered: number }>(
    `SELECT count(*)::int AS count, count(DISTINCT reply_to)::int AS answered FROM messages
     WHERE room_id = $1 AND sender_id = $2`,
    [room, worker.id],
  );
  expect(replies.rows[0]?.count).toBe(replies.rows[0]?.answered);
  const { token } = worker;
  const stats = await t.api.call('getRuntimeStats', { token, params: { id }, expect: 200 });
  expect(stats.body).toMatchObject({ claims: JOBS + 8, unfinished: 8, unreported: JOBS });
});

async function endLeaseOf(deliveryId: string): Promise<void> {
  await t.database.pool.query(
    `UPDATE runtime_deliveries SET due_at = now() - interval '1 second' WHERE id = $1`,
    [deliveryId],
  );
}

test('leases that have ended are taken back where nobody claims: dead letters and jobs that wait', async () => {
  const { asker, worker } = await pair(t);
  const room = await group(t, asker, worker);
  await fill(asker, worker, room);
  const once = await register(t, worker, { name: 'once', policy: { maxAttempts: 1 } });
  const often = await register(t, worker, { name: 'often' });
  for (const { id } of [once, often]) {
    await claim(t, worker, id);
    await endLeases(t, id);
  }
  // Its first sweep comes with the start of a process.
  const replica = await t.replica();
  const stateOf = async (id: string) =>
    (
      await t.database.pool.query<{ state: string }>(
        'SELECT state FROM runtime_deliveries WHERE runtime_id = $1 AND attempts = 1',
        [id],
      )
    ).rows[0]?.state;
  const deadline = Date.now() + 30_000;
  while ((await stateOf(often.id)) === 'leased' && Date.now() < deadline) await sleep(50);
  expect([await stateOf(once.id), await stateOf(often.id)]).toEqual(['dead_letter', 'pending']);
  await replica.close();
});
