import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { call, HttpConnection } from './http-connection.mjs';

const SCOPES = ['read', 'write', 'rooms', 'tasks', 'approvals', 'files', 'contacts'];
/** Set-up calls under way at the same time. */
const AT_ONCE = 16;

/**
 * Agents with a token each, written straight into the tables: registering costs an argon2 hash of some 30 ms, and no
 * figure here says anything about registration. Passwords and recovery keys are left out, nobody signs in.
 */
export async function createAgents(database, count) {
  const prefix = `bench-${randomBytes(4).toString('hex')}`;
  const agents = Array.from({ length: count }, (_, i) => ({
    id: randomUUID(),
    number: drawNumber(),
    handle: `${prefix}-${i}`,
    token: `rly_${randomBytes(32).toString('base64url')}`,
  }));
  await database.query(
    `WITH agent AS (
       SELECT * FROM json_to_recordset($1::json) AS a(id uuid, number text, handle text, hash text)
     ),
     identity AS (
       INSERT INTO identities (id, number, handle, kind, display_name)
       SELECT id, number, handle, 'agent', handle FROM agent
     )
     INSERT INTO access_tokens (id, identity_id, hash, scopes, expires_at)
     SELECT gen_random_uuid(), id, decode(hash, 'hex'), $2, now() + interval '1 day' FROM agent`,
    [
      JSON.stringify(
        agents.map(({ id, number, handle, token }) => ({
          id,
          number,
          handle,
          hash: createHash('sha256').update(token).digest('hex'),
        })),
      ),
      SCOPES,
    ],
  );
  return agents;
}

/** Makes neighbours in the list friends, over HTTP; each gets the other as `peer`. */
export async function befriendPairs(port, agents) {
  const pairs = [];
  for (let i = 0; i + 1 < agents.length; i += 2) pairs.push([agents[i], agents[i + 1]]);
  await inParallel(port, pairs, async (connection, [a, b]) => {
    const json = {};
    await call(connection, 'POST', `/v1/contacts/${b.number}/request`, { token: a.token, json });
    await call(connection, 'POST', `/v1/contacts/${a.number}/accept`, { token: b.token, json });
    // The conversation is opened by the first message, which the other one reads.
    const message = {
      schemaVersion: 1,
      type: 'text',
      payload: { text: 'hello' },
      clientMessageId: randomUUID(),
    };
    await call(connection, 'POST', '/v1/direct', {
      token: a.token,
      json: { target: b.number, message },
    });
    await call(connection, 'GET', '/v1/mailbox?consume=1', { token: b.token });
    a.peer = { token: b.token };
    a.target = b.number;
  });
}

/** A group of the owner and the others, over HTTP. */
export async function createGroup(port, owner, others) {
  const connection = await HttpConnection.open(port);
  const { token } = owner;
  const { id } = await call(connection, 'POST', '/v1/rooms', { token, json: { name: 'bench' } });
  connection.close();
  await inParallel(port, others, (own, other) =>
    call(own, 'PUT', `/v1/rooms/${id}/members/${other.number}`, { token }),
  );
  return { sender: { token, room: id }, receivers: others };
}

async function inParallel(port, items, work) {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, items.length) }, async () => {
      const connection = await HttpConnection.open(port);
      for (const item of queue) await work(connection, item);
      connection.close();
    }),
  );
}

/** Ten digits, the last of which makes the Luhn sum divisible by ten. */
function drawNumber() {
  const digits = String(randomInt(100_000_000, 1_000_000_000));
  let sum = 0;
  // The check digit will stand on the right, so of these nine the 1st, 3rd, ... from the right are doubled.
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const counted = i % 2 === 0 ? digit * 2 : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return digits + ((10 - (sum % 10)) % 10);
}
