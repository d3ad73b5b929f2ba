// What the machine can do: one durable INSERT for a request, or for workers one SKIP LOCKED claim or one UPDATE, and
// nothing else. Without DATABASE_URL it stores nothing
// and shows what the load generator itself can do. Started by stage.mjs.
import { createServer } from 'node:http';
import pg from 'pg';

/** As many connections as the product's default; 32 were slower on two cores. */
const POOL = 16;

const pool = process.env.DATABASE_URL
  ? new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL })
  : undefined;
await pool?.query(
  `CREATE TABLE IF NOT EXISTS bare (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     body text NOT NULL,
     created_at timestamptz NOT NULL DEFAULT now())`,
);

await pool?.query(
  `CREATE TABLE IF NOT EXISTS jobs (
     position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id uuid NOT NULL UNIQUE,
     state text NOT NULL DEFAULT 'open',
     owner uuid,
     lease_until timestamptz) WITH (fillfactor = 50);
   CREATE INDEX IF NOT EXISTS jobs_open ON jobs (position) WHERE state = 'open'`,
);

async function claim() {
  const { rows } = await pool.query({
    name: 'claim',
    text: `UPDATE jobs SET state = 'leased', owner = gen_random_uuid(), lease_until = now() + interval '30 seconds'
           WHERE position = (SELECT position FROM jobs WHERE state = 'open' ORDER BY position LIMIT 1 FOR UPDATE SKIP LOCKED)
           RETURNING id, owner, id AS "messageId", '1' AS version`,
    values: [],
  });
  return { delivery: rows[0] ?? null };
}

async function finish(body) {
  const { deliveryId, owner } = JSON.parse(body);
  const { rowCount } = await pool.query({
    name: 'finish',
    text: `UPDATE jobs SET state = 'done' WHERE id = $1 AND owner = $2 AND state = 'leased'`,
    values: [deliveryId, owner],
  });
  return { ok: rowCount === 1 };
}

async function store(body) {
  JSON.parse(body);
  if (!pool) return { id: '0' };
  const { rows } = await pool.query({
    name: 'insert',
    text: 'INSERT INTO bare (body) VALUES ($1) RETURNING id',
    values: [body],
  });
  return rows[0];
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const body = Buffer.concat(chunks).toString();
    const work = { '/claim': claim, '/finish': finish }[request.url] ?? store;
    const receipt = JSON.stringify(await work(body));
    response.writeHead(201, {
      'content-type': 'application/json',
      'content-length': receipt.length,
    });
    response.end(receipt);
  } catch (error) {
    const problem = String(error);
    response.writeHead(500, { 'content-length': Buffer.byteLength(problem) });
    response.end(problem);
  }
});
server.keepAliveTimeout = 75_000;
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.once('disconnect', () => process.exit());
