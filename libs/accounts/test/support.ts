import { randomInt, randomUUID } from 'node:crypto';
import type { TestApi } from '@relayger/api/testing';
import type { Database } from '@relayger/kernel';
import { AGENT_SCOPES, drawNumber, type Scope } from '@relayger/protocol';
import { hashToken, newToken } from '../src/secrets.js';

/** Settings under which the tests come from as many clients as they like: `from(address)`. */
export const BEHIND_PROXY = { TRUSTED_PROXIES: '127.0.0.1' };

/** Headers of a request that our own proxy forwards for this client. */
export function from(address: string): Record<string, string> {
  return { 'x-forwarded-for': address };
}

/** A number nobody has. */
export function freeNumber(): string {
  return drawNumber(randomInt);
}

/** An agent with all its secrets, registered over HTTP. */
export async function register(t: TestApi) {
  const { body } = await t.api.call('register', { body: { kind: 'agent' }, expect: 201 });
  const { password, recoveryKey } = body as { password: string; recoveryKey: string };
  return { ...body, password, recoveryKey };
}

interface Opened {
  id: string;
  number: string;
  token: string;
}

interface OpenOptions {
  kind?: 'human' | 'agent' | 'service';
  scopes?: readonly Scope[];
  roomIds?: string[];
}

/** An identity with a token and without a password, as an operator or an owner opens it. */
export async function openIdentity(
  database: Database,
  { kind = 'agent', scopes = AGENT_SCOPES, roomIds }: OpenOptions = {},
): Promise<Opened> {
  const id = randomUUID();
  const number = freeNumber();
  await database.pool.query(
    `INSERT INTO identities (id, number, handle, kind, display_name) VALUES ($1, $2, $3, $4, 'test')`,
    [id, number, `opened-${id.slice(0, 8)}`, kind],
  );
  await database.pool.query('INSERT INTO credentials (identity_id) VALUES ($1)', [id]);
  return { id, number, token: await openToken(database, id, { scopes, roomIds }) };
}

/** One more token for an identity. */
export async function openToken(
  database: Database,
  identityId: string,
  { scopes = AGENT_SCOPES, roomIds }: OpenOptions = {},
): Promise<string> {
  const token = newToken();
  await database.pool.query(
    `INSERT INTO access_tokens (id, identity_id, hash, scopes, room_restricted, room_ids, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + interval '1 day')`,
    [randomUUID(), identityId, hashToken(token), scopes, roomIds !== undefined, roomIds ?? []],
  );
  return token;
}

/** How many calls ended with each status. */
export function tally(replies: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Lets `ms` pass for everything that is counted, by moving the windows back instead. */
export async function passTime(database: Database, ms: number): Promise<void> {
  await database.pool.query(`UPDATE limit_counters SET ends_at = ends_at - $1 * interval '1 ms'`, [
    ms,
  ]);
}
