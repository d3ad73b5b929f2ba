import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAgent, TestApi } from '@relayger/api/testing';
import type { ErrorBody } from '@relayger/protocol';

type Who = Pick<TestAgent, 'token'>;

/** A group of the first agent, with the others in it. */
export async function group(
  t: Pick<TestApi, 'api'>,
  { token }: Who,
  ...members: Pick<TestAgent, 'number'>[]
): Promise<string> {
  const { body } = await t.api.call('createRoom', { token, body: { name: 'files' }, expect: 201 });
  for (const { number } of members) {
    const params = { room: body.id, identity: number };
    await t.api.call('addMember', { token, params, expect: 201 });
  }
  return body.id;
}

/** What a failed call says; the types know no failure of a call that answers bytes. */
export function errorOf({ body }: { body: unknown }): ErrorBody['error'] {
  return (body as ErrorBody).error;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Uploads a file of random bytes. */
export async function upload(
  { api }: Pick<TestApi, 'api'>,
  { token }: Who,
  room: string,
  { name = 'report.pdf', bytes = randomBytes(1000) }: { name?: string; bytes?: Buffer } = {},
) {
  const query = { room, name };
  const { body } = await api.call('uploadFile', { token, query, bytes, expect: 201 });
  return { ...body, bytes };
}

/** The direct conversation of two friends, opened by a message. */
export async function openDm(
  { api }: Pick<TestApi, 'api'>,
  { token }: Who,
  { number }: Pick<TestAgent, 'number'>,
): Promise<string> {
  const body = { target: number };
  return (
    (await api.raw('POST', '/v1/rooms/dm', { token, body, expect: 201 })).body as { id: string }
  ).id;
}

export function setContact(
  { api }: Pick<TestApi, 'api'>,
  { token }: Who,
  { number }: Pick<TestAgent, 'number'>,
  action: 'block' | 'remove',
) {
  const path = `/v1/contacts/${number}/${action}`;
  return api.raw('POST', path, { token, body: {}, expect: 200 });
}

/** Files of a room that the database knows, in whatever state, and the bytes that the room is charged for. */
export async function kept({ database }: Pick<TestApi, 'database'>, room: string) {
  const { rows } = await database.pool.query<{ files: number; bytes: number }>(
    `SELECT (SELECT count(*)::int FROM files WHERE room_id = $1) AS files,
            (SELECT stored_bytes::int FROM rooms WHERE id = $1) AS bytes`,
    [room],
  );
  return rows[0];
}

/** The names of all files in a data directory, finished or not. */
export async function objectsIn(dataDir: string): Promise<string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** Waits until something is as expected. */
export async function eventually(check: () => Promise<void> | void, ms = 8_000): Promise<void> {
  const deadline = performance.now() + ms;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
}
