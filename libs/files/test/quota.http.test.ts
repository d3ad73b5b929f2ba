import { randomBytes } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import { group, kept, upload } from './support.js';

const QUOTA = 10_000;

let t: TestApi;
let owner: TestAgent;
beforeAll(async () => {
  t = await startTestApi({ ROOM_STORAGE_BYTES: String(QUOTA) });
  owner = await t.agent();
});
afterAll(() => t.close());

const attempt = (room: string, size: number, expect: 201 | 413) =>
  t.api.call('uploadFile', {
    token: owner.token,
    query: { room, name: 'x' },
    bytes: randomBytes(size),
    expect: expect as 413,
  });

test('the storage of a room is what the limits say, to the byte', async () => {
  const { body: limits } = await t.api.call('getLimits', { token: owner.token, expect: 200 });
  expect(limits.sizes).toMatchObject({ upload: 16_777_216, roomStorage: QUOTA });
  const room = await group(t, owner);
  await attempt(room, 9_000, 201);
  const { body } = await attempt(room, 1_001, 413);
  expect(body.error).toMatchObject({
    code: 'room_storage_exceeded',
    details: { limitBytes: QUOTA, freeBytes: 1_000 },
  });
  await attempt(room, 1_000, 201);
  const full = await attempt(room, 1, 413);
  expect(full.body.error.details).toEqual({ limitBytes: QUOTA, freeBytes: 0 });
  await attempt(room, 0, 201);
  expect(await kept(t, room)).toEqual({ files: 3, bytes: QUOTA });
  // Another room has its own.
  await attempt(await group(t, owner), QUOTA, 201);
});

test('a quota and a usage beyond 32 bits are exact', async () => {
  const room = await group(t, owner);
  const large = await t.replica({ ROOM_STORAGE_BYTES: '9007199254740991' });
  await t.database.pool.query('UPDATE rooms SET stored_bytes = 9007199254740985 WHERE id = $1', [
    room,
  ]);
  const attempt = (size: number, expect: 201 | 413) =>
    large.api.call('uploadFile', {
      token: owner.token,
      query: { room, name: 'x' },
      bytes: randomBytes(size),
      expect: expect as 413,
    });
  const { body } = await attempt(7, 413);
  expect(body.error.details).toEqual({ limitBytes: Number.MAX_SAFE_INTEGER, freeBytes: 6 });
  await attempt(6, 201);
  const { body: limits } = await large.api.call('getLimits', { token: owner.token, expect: 200 });
  expect(limits.sizes.roomStorage).toBe(Number.MAX_SAFE_INTEGER);
  await large.close();
});

test('uploads at the same time do not exceed it together', async () => {
  const room = await group(t, owner);
  const second = await t.replica();
  const uploads = Array.from({ length: 8 }, (_, i) =>
    (i % 2 === 0 ? t.api : second.api).raw('POST', `/v1/files?room=${room}&name=x`, {
      token: owner.token,
      bytes: randomBytes(3_000),
    }),
  );
  const statuses = (await Promise.all(uploads)).map(({ status }) => status).sort();
  expect(statuses).toEqual([201, 201, 201, 413, 413, 413, 413, 413]);
  expect(await kept(t, room)).toEqual({ files: 3, bytes: 9_000 });
  await second.close();
});

test('a retracted message gives its files back', async () => {
  const room = await group(t, owner);
  const { token } = owner;
  const file = await upload(t, owner, room, { bytes: randomBytes(QUOTA) });
  const body = textMessage('here', { payload: { text: 'here', attachments: [file.id] } });
  const { body: message } = await t.api.call('sendMessage', {
    token,
    params: { room },
    query: { view: 'receipt' },
    body,
    expect: 201,
  });
  await attempt(room, 1, 413);
  const { id } = message as { id: string };
  const retract = { action: 'retract', clientMessageId: file.id };
  const path = `/v1/rooms/${room}/messages/${id}/revise`;
  await t.api.raw('POST', path, { token, body: retract, expect: 201 });
  await attempt(room, QUOTA, 201);
});
