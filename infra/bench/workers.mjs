import { setTimeout as sleep } from 'node:timers/promises';
import { befriendPairs, createAgents } from './agents.mjs';
import { call, HttpConnection, requestText } from './http-connection.mjs';
import { seedRoom, settle } from './seeds.mjs';
import { median } from './statistics.mjs';

/** Leases that one runtime may hold at a time: the most that the contract allows. */
const CONCURRENCY = 8;

export const jobs = {
  /** Workers that claim and finish until everything is done; answers the jobs that each was given. */
  async work({ port, workers, total }) {
    const connections = await Promise.all(workers.map(() => HttpConnection.open(port)));
    const done = [];
    const started = performance.now();
    await Promise.all(
      workers.map(async ({ claim, finish, headers }, i) => {
        const post = async (path, json) => {
          const body = JSON.stringify(json);
          const reply = await connections[i].send(requestText('POST', path, { ...headers, body }));
          if (reply.status >= 300)
            throw new Error(`${path} answered ${reply.status}: ${reply.body}`);
          return JSON.parse(reply.body);
        };
        while (done.length < total) {
          const { delivery } = await post(claim, {});
          if (!delivery) {
            await sleep(1);
            continue;
          }
          const { id: deliveryId, owner, version, messageId } = delivery;
          await post(finish, { deliveryId, owner, version, outcome: 'handled' });
          done.push(messageId);
        }
      }),
    );
    const seconds = (performance.now() - started) / 1000;
    for (const connection of connections) connection.close();
    if (done.length !== total || new Set(done).size !== total)
      throw new Error(
        `${total} jobs were handled ${done.length} times, ${new Set(done).size} of them`,
      );
    return { perSecond: total / seconds };
  },
};

/** (j) Workers of runtimes, against one SKIP LOCKED statement a request; a job is a claim and a finish on both. */
export async function measure(stage, { total, workers, rounds }, say) {
  const runtimes = workers / CONCURRENCY;
  const product = [];
  const bare = [];
  for (let round = 1; round <= rounds; round++) {
    await stage.fillBareJobs(total);
    const plain = { claim: '/claim', finish: '/finish', headers: {} };
    const bareWorkers = Array.from({ length: workers }, () => plain);
    bare.push(await stage.generate('work', { port: stage.bare.port, workers: bareWorkers, total }));

    const lists = [];
    for (let n = 0; n < runtimes; n++) lists.push(await prepareRuntime(stage, total / runtimes));
    await settle(stage.database);
    const own = lists.flatMap((worker) => Array.from({ length: CONCURRENCY }, () => worker));
    product.push(await stage.generate('work', { port: stage.product.port, workers: own, total }));
    const [b, p] = [bare.at(-1).perSecond, product.at(-1).perSecond];
    say(
      `round ${round}: bare ${b.toFixed(0)} jobs/s, product ${p.toFixed(0)} jobs/s, ratio ${(p / b).toFixed(2)}`,
    );
  }
  const middle = (results) => median(results.map(({ perSecond }) => perSecond));
  const ratio = middle(product) / middle(bare);
  return {
    rows: [
      {
        what: `(j) ${workers} workers, ${total} jobs, claim and finish ÷ bare SKIP LOCKED`,
        value: ratio.toFixed(2),
        target: '≥ 0.40',
        ok: ratio >= 0.4,
      },
    ],
    raw: { ratio, product, bare },
  };
}

/** An agent with a runtime and so many questions that wait for it. */
async function prepareRuntime({ database, product }, count) {
  const [asker, worker] = await createAgents(database, 2);
  await befriendPairs(product.port, [asker, worker]);
  const room = await seedRoom(database, [asker, worker]);
  await database.query(
    `INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, mentions, attention, trace_id)
     SELECT $1, n, uuidv7(), $2, gen_random_uuid(), sha256('job'), 'text', '{"text":"a job"}', ARRAY[$3::uuid],
       '{"kind":"question"}', gen_random_uuid()
     FROM generate_series(1, $4::int) AS n`,
    [room, asker.id, worker.id, count],
  );
  await database.query('UPDATE rooms SET last_seq = $2 WHERE id = $1', [room, count]);
  const connection = await HttpConnection.open(product.port);
  const { token } = worker;
  const policy = {
    concurrency: CONCURRENCY,
    maxAttempts: 5,
    maxCallsPerHour: 100_000,
    triggers: ['questions'],
  };
  const json = { name: 'bench', from: 'beginning', policy };
  const { id } = await call(connection, 'POST', '/v1/runtimes', { token, json });
  connection.close();
  return {
    claim: `/v1/runtimes/${id}/claim`,
    finish: `/v1/runtimes/${id}/finish`,
    headers: { token },
  };
}
