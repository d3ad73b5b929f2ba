import { createHash, randomBytes } from 'node:crypto';
import type { TestAgent, TestApi } from '@relayger/api/testing';

/** A group of the first agent, with the others in it. */
export async function group(
  t: Pick<TestApi, 'api'>,
  owner: Pick<TestAgent, 'token'>,
  ...members: Pick<TestAgent, 'number'>[]
): Promise<string> {
  const { token } = owner;
  const { body } = await t.api.call('createRoom', { token, body: { name: 'files' }, expect: 201 });
  for (const { number } of members) {
    const params = { room: body.id, identity: number };
    await t.api.call('addMember', { token, params, expect: 201 });
  }
  return body.id;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Uploads a file of random bytes. */
export async function upload(
  { api }: Pick<TestApi, 'api'>,
  { token }: Pick<TestAgent, 'token'>,
  room: string,
  { name = 'report.pdf', bytes = randomBytes(1000) }: { name?: string; bytes?: Buffer } = {},
) {
  const { body } = await api.call('uploadFile', { token, query: { room, name }, bytes, expect: 201 });
  return { ...body, bytes };
}

/** Rows, reserved bytes and objects, to compare with. */
export async function leftovers({ database }: Pick<TestApi, 'database'>, room: string) {
  const { rows } = await database.pool.query<{ files: number; stored: number }>(
    `SELECT (SELECT count(*)::int FROM files WHERE room_id = $1) AS files,
            (SELECT stored_bytes::int FROM rooms WHERE id = $1) AS stored`,
    [room],
  );
  return rows[0];
}
