import { randomUUID } from 'node:crypto';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { eventually, group, kept, objectsIn, upload } from './support.js';

let t: TestApi;
let owner: TestAgent;
beforeAll(async () => {
  t = await startTestApi();
  owner = await t.agent();
});
afterAll(() => t.close());

/** What a process leaves that dies in the middle of an upload: a row, a reservation, a part of the object. */
async function brokenOff(room: string, { minutes }: { minutes: number }): Promise<string> {
  const id = randomUUID();
  const key = (id + id).replaceAll('-', '').slice(0, 48);
  await t.database.pool.query(
    `INSERT INTO files (id, room_id, uploader_id, name, size, object_key, created_at)
     VALUES ($1, $2, $3, 'x', 500, $4, now() - make_interval(mins => $5))`,
    [id, room, owner.id, key, minutes],
  );
  await t.database.pool.query('UPDATE rooms SET stored_bytes = stored_bytes + 500 WHERE id = $1', [
    room,
  ]);
  const unfinished = path.join(t.dataDir, 'files', 'unfinished');
  await mkdir(unfinished, { recursive: true });
  const file = path.join(unfinished, key);
  await writeFile(file, 'half');
  const then = new Date(Date.now() - minutes * 60_000);
  await utimes(file, then, then);
  return key;
}

test('uploads of processes that died are undone by whoever looks, once, and others are left alone', async () => {
  const rooms = [await group(t, owner), await group(t, owner)] as const;
  const file = await upload(t, owner, rooms[0]);
  const dead: string[] = [];
  for (let i = 0; i < 30; i++) dead.push(await brokenOff(rooms[i % 2] as string, { minutes: 70 }));
  const running = await brokenOff(rooms[0], { minutes: 50 });
  // Three processes that start look at the same time.
  const replicas = await Promise.all([t.replica(), t.replica(), t.replica()]);
  await eventually(async () => {
    expect(await kept(t, rooms[0])).toEqual({ files: 2, bytes: 1500 });
    expect(await kept(t, rooms[1])).toEqual({ files: 0, bytes: 0 });
    const objects = await objectsIn(t.dataDir);
    for (const key of dead) expect(objects).not.toContain(key);
    expect(objects).toContain(running);
  });
  await t.api.call('downloadFile', { token: owner.token, params: { id: file.id }, expect: 200 });
  for (const replica of replicas) await replica.close();
});

test('objects of removed files go at the next look, when the process that removed them has died', async () => {
  const room = await group(t, owner);
  const files = [await upload(t, owner, room), await upload(t, owner, room)];
  const ids = files.map(({ id }) => id);
  const { rows } = await t.database.pool.query<{ object_key: string }>(
    `UPDATE files SET state = 'removed' WHERE id = ANY ($1) RETURNING object_key`,
    [ids],
  );
  await t.database.pool.query('UPDATE rooms SET stored_bytes = 0 WHERE id = $1', [room]);
  const replica = await t.replica();
  await eventually(async () => {
    expect(await kept(t, room)).toEqual({ files: 0, bytes: 0 });
    const objects = await objectsIn(t.dataDir);
    for (const { object_key } of rows) expect(objects).not.toContain(object_key);
  });
  await replica.close();
});
