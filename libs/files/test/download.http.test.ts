import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { truncate, unlink } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { openToken, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { errorOf, eventually, group, openDm, setContact, sha256, upload } from './support.js';
import { connect } from './wire.js';

let t: TestApi;
let owner: TestAgent;
let peer: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi({ TRANSFER_IDLE_SECONDS: '1' });
  owner = await t.agent();
  peer = await t.agent();
  room = await group(t, owner, peer);
});
afterAll(() => t.close());

const download = (who: Pick<TestAgent, 'token'>, id: string, expect: number) =>
  t.api.call('downloadFile', { token: who.token, params: { id }, expect: expect as 200 });
const metadata = (who: Pick<TestAgent, 'token'>, id: string, expect: number) =>
  t.api.call('getFile', { token: who.token, params: { id }, expect: expect as 200 });
/** Neither the bytes nor the description of a file are there for somebody. */
async function hidden(who: Pick<TestAgent, 'token'>, id: string) {
  for (const { body } of [await download(who, id, 404), await metadata(who, id, 404)])
    expect(body).toMatchObject({ error: { code: 'not_found' } });
}
async function pathOf(id: string): Promise<string> {
  const { rows } = await t.database.pool.query<{ object_key: string }>(
    'SELECT object_key FROM files WHERE id = $1',
    [id],
  );
  const key = rows[0]?.object_key ?? '';
  return path.join(t.dataDir, 'files', key.slice(0, 2), key);
}

describe('a download', () => {
  test('says what it is, and nothing that a browser would show', async () => {
    const bytes = Buffer.from('<script>alert(1)</script>');
    const file = await upload(t, owner, room, { name: 'page.html', bytes });
    const { headers } = await download(peer, file.id, 200);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(bytes.length),
      'content-disposition': `attachment; filename="page.html"; filename*=UTF-8''page.html`,
      'x-checksum-sha256': sha256(bytes),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'accept-ranges': 'none',
    });
  });

  const names: [name: string, ascii: string, encoded: string][] = [
    ['a b.txt', 'a b.txt', 'a%20b.txt'],
    ['say "hi"; x=1.txt', 'say _hi_; x=1.txt', 'say%20_hi_%3B%20x%3D1.txt'],
    ['100%25.txt', '100_25.txt', '100%2525.txt'],
    ["it's (1)*.txt", "it's (1)_.txt", 'it%27s%20%281%29_.txt'],
    ['报告.pdf', '__.pdf', '%E6%8A%A5%E5%91%8A.pdf'],
    ['\u202egnp.exe', '_gnp.exe', '_gnp.exe'],
    ['📄', '__', '%F0%9F%93%84'],
    ['con', '_con', '_con'],
    ['NUL.txt', '_NUL.txt', '_NUL.txt'],
    ['c:evil.txt', 'c_evil.txt', 'c_evil.txt'],
    ['~!@#$&+`{}[]^', '~!@#$&+`{}[]^', '~!%40%23%24%26%2B%60%7B%7D%5B%5D%5E'],
  ];
  test.each(names)('of %j has a name that is harmless', async (name, ascii, encoded) => {
    const file = await upload(t, owner, room, { name });
    const { headers } = await download(peer, file.id, 200);
    expect(headers['content-disposition']).toBe(
      `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`,
    );
  });

  test('has no ranges and no other methods', async () => {
    const file = await upload(t, owner, room);
    const { token } = peer;
    const { body, headers } = await t.api.call('downloadFile', {
      token,
      params: { id: file.id },
      headers: { range: 'bytes=0-9' },
      expect: 200,
    });
    expect(body).toEqual(file.bytes);
    expect(headers).not.toHaveProperty('content-range');
    for (const where of [`/v1/files/${file.id}`, `/v1/files/${file.id}/metadata`])
      await t.api.raw('HEAD', where, { token, expect: 405 });
    for (const method of ['DELETE', 'PUT', 'PATCH', 'POST']) {
      const reply = await t.api.raw(method, `/v1/files/${file.id}`, { token, expect: 405 });
      expect(reply.headers.allow).toBe('GET');
    }
  });
});

describe('a file is not there for', () => {
  test('whoever is not in its room, or has a token without the scope or the room', async () => {
    const file = await upload(t, owner, room);
    const stranger = await t.agent();
    await hidden(stranger, file.id);
    await hidden({ token: await openToken(t, owner, { roomIds: [randomUUID()] }) }, file.id);
    await hidden({ token: await openToken(t, owner, { roomIds: [] }) }, file.id);
    await hidden(owner, randomUUID());
    const narrow = { token: await openToken(t, owner, { scopes: ['read'] }) };
    for (const { body } of [
      await download(narrow, file.id, 403),
      await metadata(narrow, file.id, 403),
    ])
      expect(body).toMatchObject({ error: { code: 'insufficient_scope' } });
    await download({ token: await openToken(t, owner, { roomIds: [room] }) }, file.id, 200);
    await t.api.raw('GET', '/v1/files/report.pdf', { token: owner.token, expect: 400 });
    await t.api.raw('GET', '/v1/files/..%2f..%2fetc%2fpasswd', { token: owner.token, expect: 400 });
    await t.api.call('downloadFile', { params: { id: file.id }, expect: 401 });
    await t.api.call('getFile', { params: { id: file.id }, expect: 401 });
  });

  test('whoever has left its room, its uploader too', async () => {
    const group2 = await group(t, owner, peer);
    const file = await upload(t, peer, group2);
    await download(owner, file.id, 200);
    const { token } = peer;
    await t.api.raw('POST', `/v1/rooms/${group2}/leave`, { token, body: {}, expect: 200 });
    await hidden(peer, file.id);
    await download(owner, file.id, 200);
  });

  test('either side of a direct conversation with a block, but for both without friendship', async () => {
    const [a, b] = [await t.agent(), await t.agent()];
    await t.befriend(a, b);
    const file = await upload(t, a, await openDm(t, a, b));
    await setContact(t, a, b, 'remove');
    for (const who of [a, b]) await download(who, file.id, 200);
    await setContact(t, a, b, 'block');
    for (const who of [a, b]) await hidden(who, file.id);
  });

  test('anybody while it is uploading, and after it was removed', async () => {
    const file = await upload(t, owner, room);
    for (const state of ['uploading', 'removed']) {
      await t.database.pool.query('UPDATE files SET state = $2 WHERE id = $1', [file.id, state]);
      await hidden(owner, file.id);
    }
    await t.database.pool.query('DELETE FROM files WHERE id = $1', [file.id]);
  });
});

/** Begins a download and reads nothing of it. */
async function begin(id: string): Promise<IncomingMessage> {
  const request = httpRequest(`${t.origin}/v1/files/${id}`, {
    headers: { authorization: `Bearer ${owner.token}` },
    agent: false,
  });
  request.on('error', () => {});
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response;
}

describe('when something is wrong', () => {
  test('an object that is missing is a failure that passes', async () => {
    const file = await upload(t, owner, room);
    await unlink(await pathOf(file.id));
    const reply = await download(owner, file.id, 503);
    expect(errorOf(reply).code).toBe('unavailable');
    expect(reply.headers['retry-after']).toBe('2');
    await metadata(owner, file.id, 200);
  });

  test('an object that is too short breaks the reply off instead of leaving its reader waiting', async () => {
    const file = await upload(t, owner, room, { bytes: randomBytes(500_000) });
    await truncate(await pathOf(file.id), 300_000);
    const response = await begin(file.id);
    response.resume();
    await new Promise((resolve) => response.on('close', resolve));
    expect(response.complete).toBe(false);
  });

  test('a reader that does not read is cut off, and nothing is read ahead for it', async () => {
    const file = await upload(t, owner, room, { bytes: randomBytes(16_000_000) });
    const started = performance.now();
    const head = `GET /v1/files/${file.id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`;
    const connection = await connect(t.origin, head);
    connection.socket.pause();
    // Sends what the kernel takes without being read, then waits for the six seconds that it gives.
    const given = async () => {
      const again = await Promise.all(Array.from({ length: 8 }, () => begin(file.id)));
      const statuses = again.map(({ statusCode }) => statusCode);
      for (const response of again) response.destroy();
      expect(statuses).toEqual(Array.from({ length: 8 }, () => 200));
    };
    await eventually(given, 15_000);
    expect(performance.now() - started).toBeGreaterThan(5_000);
    connection.socket.resume();
    await connection.closed;
    expect(connection.text().length).toBeLessThan(16_000_000);
  });

  test('a reader that hangs up leaves nothing open', async () => {
    const file = await upload(t, owner, room, { bytes: randomBytes(8_000_000) });
    for (let i = 0; i < 20; i++) {
      const response = await begin(file.id);
      expect([200, 429]).toContain(response.statusCode);
      response.destroy();
    }
    await eventually(() => download(owner, file.id, 200).then(() => {}));
  });
});
