import { randomBytes } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { type S3Server, startS3Server } from '@relayger/kernel/testing';
import { errorOf, eventually, group, kept, objectsIn, sha256, upload } from './support.js';
import { connect, uploadHead } from './wire.js';

let s3: S3Server;
let t: TestApi;
let owner: TestAgent;
let room: string;
beforeAll(async () => {
  s3 = await startS3Server();
  t = await startTestApi(s3.env);
  owner = await t.agent();
});
beforeEach(async () => {
  room = await group(t, owner);
});
afterEach(() => s3.fail(null));
afterAll(async () => {
  await t.close();
  await s3.stop();
});

const attempt = (expect: 201 | 503) =>
  t.api.call('uploadFile', {
    token: owner.token,
    query: { room, name: 'x' },
    bytes: randomBytes(300_000),
    expect: expect as 503,
  });

test('files are objects of the bucket, and nothing is on the disk', async () => {
  const file = await upload(t, owner, room, { name: 'plan.txt', bytes: randomBytes(3_000_000) });
  const params = { id: file.id };
  const { body } = await t.api.call('downloadFile', { token: owner.token, params, expect: 200 });
  expect(sha256(body as Buffer)).toBe(file.sha256);
  const [key, object] = [...s3.objects].at(-1) as [string, Buffer];
  expect(key).toMatch(/^[0-9a-f]{48}$/);
  expect(sha256(object)).toBe(file.sha256);
  expect(await objectsIn(t.dataDir)).toEqual([]);
});

test('with the bucket away uploads and downloads answer 503 and leave nothing; then they work again', async () => {
  const file = await upload(t, owner, room);
  const objects = s3.objects.size;
  const download = (expect: 200 | 503) =>
    t.api.call('downloadFile', {
      token: owner.token,
      params: { id: file.id },
      expect: expect as 503,
    });
  const failing = (fault: 'error' | 'reset') => async () => s3.fail(fault);
  for (const away of [failing('error'), failing('reset'), () => s3.stop()]) {
    await away();
    for (const reply of [await attempt(503), await download(503)]) {
      expect(errorOf(reply).code).toBe('unavailable');
      expect(reply.headers['retry-after']).toBe('2');
    }
    // Nobody is charged for what is not there, though the row waits until the bucket can be asked again.
    expect((await kept(t, room))?.bytes).toBe(1000);
  }
  s3.fail(null);
  await s3.start();
  await attempt(201);
  await download(200);
  expect(s3.objects.size).toBe(objects + 1);
  const replica = await t.replica();
  await eventually(async () => expect(await kept(t, room)).toEqual({ files: 2, bytes: 301_000 }));
  await replica.close();
});

test('an upload that the bucket refuses half-way leaves its connection for the next request', async () => {
  s3.fail('reset');
  const head = uploadHead(owner, { room }, ['Content-Length: 1500000']);
  const connection = await connect(t.origin, head);
  connection.socket.write(randomBytes(1_000_000));
  expect((await connection.reply()).status).toBe(503);
  connection.socket.write(randomBytes(500_000));
  connection.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await eventually(() => expect(connection.text()).toContain('{"ok":true}'));
  connection.socket.destroy();
});

test('a client that hangs up in the middle leaves no object', async () => {
  const before = s3.objects.size;
  const head = uploadHead(owner, { room }, ['Content-Length: 3000000']);
  const { socket } = await connect(t.origin, head);
  socket.write(randomBytes(1_500_000));
  await eventually(async () => expect((await kept(t, room))?.bytes).toBe(3_000_000));
  socket.resetAndDestroy();
  await eventually(async () => expect(await kept(t, room)).toEqual({ files: 0, bytes: 0 }));
  expect(s3.objects.size).toBe(before);
});
