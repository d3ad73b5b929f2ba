// What the machine can do: one durable INSERT for a request, and nothing else. Without DATABASE_URL it stores nothing
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
    const receipt = JSON.stringify(await store(Buffer.concat(chunks).toString()));
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
