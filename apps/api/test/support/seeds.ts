import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { AGENT_SCOPES, drawNumber, type Scope } from '@relayger/protocol';
import type { TestAgent, TestApi } from './test-api.js';

type Seeded = Pick<TestApi, 'database'>;

interface TokenOptions {
  scopes?: readonly Scope[];
  /** Limits the token to these rooms. */
  roomIds?: readonly string[];
  /** Seconds from now; negative for a token that has expired. */
  expiresIn?: number;
  revoked?: boolean;
}

/** Opens a token that no call of the API hands out: narrow, room-restricted, expired or revoked. */
export async function openToken(
  { database }: Seeded,
  { id }: Pick<TestAgent, 'id'>,
  { scopes = AGENT_SCOPES, roomIds, expiresIn = 3600, revoked = false }: TokenOptions = {},
): Promise<string> {
  const token = `rly_${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(token).digest();
  await database.pool.query(
    `INSERT INTO access_tokens (id, identity_id, hash, scopes, room_restricted, room_ids, expires_at, revoked_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7), CASE WHEN $8 THEN now() END)`,
    [randomUUID(), id, hash, scopes, roomIds !== undefined, roomIds ?? [], expiresIn, revoked],
  );
  return token;
}

/** Agents that did not register, for tests that need many: a registration costs a password hash. */
export async function seedAgents(t: Seeded, handles: readonly string[]): Promise<TestAgent[]> {
  const agents = handles.map((handle) => ({
    id: randomUUID(),
    number: drawNumber(randomInt),
    handle,
    token: `rly_${randomBytes(32).toString('base64url')}`,
  }));
  await t.database.pool.query(
    `WITH seed AS (SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[]) AS s(id, number, handle, hash)),
          who AS (INSERT INTO identities (id, number, handle, kind, display_name)
                  SELECT id, number, handle, 'agent', handle FROM seed)
     INSERT INTO access_tokens (id, identity_id, hash, scopes, expires_at)
     SELECT gen_random_uuid(), id, hash, $5, now() + interval '1 hour' FROM seed`,
    [
      agents.map(({ id }) => id),
      agents.map(({ number }) => number),
      agents.map(({ handle }) => handle),
      agents.map(({ token }) => createHash('sha256').update(token).digest()),
      AGENT_SCOPES,
    ],
  );
  return agents;
}

/** Disables an identity, as an operator would. */
export async function disable({ database }: Seeded, { id }: Pick<TestAgent, 'id'>): Promise<void> {
  await database.pool.query('UPDATE identities SET disabled_at = now() WHERE id = $1', [id]);
}
