import { createHash, randomBytes } from 'node:crypto';
import {
  disable,
  openToken,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { LIMITS } from '@relayger/protocol';
import { errorOf, eventually, group, kept, objectsIn, sha256, upload } from './support.js';
import { connect, uploadHead, type Wire, wire } from './wire.js';

let t: TestApi;
let owner: TestAgent;
let member: TestAgent;
const open: Wire[] = [];
beforeAll(async () => {
  // Uploads that stand still are cut off after a second, and three connections to the database are all there are.
  t = await startTestApi({ TRANSFER_IDLE_SECONDS: '2', DATABASE_POOL: '3' });
  owner = await t.agent();
  member = await t.agent();
});
afterEach(() => {
  for (const { socket } of open.splice(0)) socket.destroy();
});
afterAll(() => t.close());

const SIZE = 1_000_000;

/** Begins an upload of SIZE bytes and writes half of them. */
async function half(
  who: Pick<TestAgent, 'token'>,
  room: string,
  lines: string[] = [],
): Promise<Wire> {
  const head = uploadHead(who, { room }, [`Content-Length: ${SIZE}`, ...lines]);
  const connection = await connect(t.origin, head);
  open.push(connection);
  connection.socket.write(randomBytes(SIZE / 2));
  return connection;
}
/** Waits until an upload is noted and charged to its room. */
const underWay = (room: string, files = 1) =>
  eventually(async () => expect(await kept(t, room)).toEqual({ files, bytes: files * SIZE }));
const nothingLeft = async (room: string, objects: string[]) =>
  eventually(async () => {
    expect(await kept(t, room)).toEqual({ files: 0, bytes: 0 });
    expect((await objectsIn(t.dataDir)).sort()).toEqual([...objects].sort());
  });

describe('an upload that does not come in full leaves no row, no object and no reservation', () => {
  let room: string;
  let objects: string[];
  beforeEach(async () => {
    room = await group(t, owner, member);
    objects = await objectsIn(t.dataDir);
  });
  afterEach(() => nothingLeft(room, objects));

  test('when the client is killed', async () => {
    const { socket } = await half(owner, room);
    await underWay(room);
    socket.resetAndDestroy();
  });

  test('when the client ends its side early', async () => {
    const { socket, closed } = await half(owner, room);
    await underWay(room);
    socket.end();
    await closed;
  });

  test('when nothing more comes: it is told so, and its connection is closed', async () => {
    const connection = await half(owner, room);
    const { status, head, text } = await connection.reply();
    expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining('stalled') });
    expect(head.toLowerCase()).toContain('connection: close');
    await connection.closed;
  });

  test('when the token is revoked, the identity disabled, or the member removed meanwhile', async () => {
    const gone = await t.agent();
    const path = `/v1/rooms/${room}/members`;
    await t.api.raw('PUT', `${path}/${gone.number}`, { token: owner.token, expect: 201 });
    const token = await openToken(t, owner);
    const uploads = [await half({ token }, room), await half(gone, room), await half(member, room)];
    await underWay(room, 3);
    await t.database.pool.query('UPDATE access_tokens SET revoked_at = now() WHERE hash = $1', [
      createHash('sha256').update(token).digest(),
    ]);
    await disable(t, gone);
    await t.api.raw('DELETE', `${path}/${member.number}`, { token: owner.token, expect: 200 });
    const statuses: number[] = [];
    for (const upload of uploads) {
      upload.socket.write(randomBytes(SIZE / 2));
      statuses.push((await upload.reply()).status);
    }
    expect(statuses).toEqual([401, 401, 404]);
  });
});

test('bytes beyond Content-Length are the next request, never part of the file', async () => {
  const room = await group(t, owner);
  const head = uploadHead(owner, { room }, ['Content-Length: 5']);
  const connection = await connect(
    t.origin,
    `${head}helloGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`,
  );
  open.push(connection);
  const { status, text } = await connection.reply();
  expect(status).toBe(201);
  expect(JSON.parse(text)).toMatchObject({ size: 5, sha256: sha256(Buffer.from('hello')) });
  await eventually(() => expect(connection.text()).toContain('{"ok":true}'));

  // What is no request ends the connection; whoever hears of it in time has stored nothing.
  const { status: garbled } = await wire(t.origin, `${head}helloworld`);
  expect([201, 400]).toContain(garbled);
  await eventually(async () => {
    const left = await kept(t, room);
    expect(left?.bytes).toBe(5 * (left?.files ?? 0));
  });
});

test('a Content-Length that is no number, or two of them, is no request', async () => {
  const room = await group(t, owner);
  for (const lines of [
    ['Content-Length: x'],
    ['Content-Length: -1'],
    ['Content-Length: 1e3'],
    ['Content-Length: 1', 'Content-Length: 2'],
    ['Content-Length: 1', 'Transfer-Encoding: chunked'],
  ]) {
    const { status } = await wire(t.origin, uploadHead(owner, { room }, lines));
    expect({ lines, status }).toEqual({ lines, status: 400 });
  }
  expect(await kept(t, room)).toEqual({ files: 0, bytes: 0 });
});

describe('before a byte of the body is read', () => {
  test('the token, the room and the size are looked at', async () => {
    const room = await group(t, owner);
    const large = ['Content-Length: 99999999999'];
    const full = [`Content-Length: ${LIMITS.uploadBytes + 1}`];
    const nobody = { token: 'nobody' };
    const stranger = await t.agent();
    for (const [who, lines, code] of [
      [nobody, large, 'unauthorized'],
      [owner, large, 'file_too_large'],
      [owner, full, 'file_too_large'],
      [stranger, [`Content-Length: ${SIZE}`], 'not_found'],
    ] as const) {
      const { text } = await wire(t.origin, uploadHead(who, { room }, lines));
      expect(text).toContain(code);
    }
  });

  test('a client that waits to go on is only told so when its file is wanted', async () => {
    const room = await group(t, owner);
    const expecting = ['Content-Length: 5', 'Expect: 100-continue'];
    const refused = await connect(t.origin, uploadHead({ token: 'x' }, { room }, expecting));
    const { status, head } = await refused.reply();
    expect(status).toBe(401);
    expect(refused.text()).not.toContain(' 100 ');
    expect(head.toLowerCase()).toContain('connection: close');
    await refused.closed;

    const wanted = await connect(t.origin, uploadHead(owner, { room }, expecting));
    open.push(wanted);
    await eventually(() => expect(wanted.text()).toBe('HTTP/1.1 100 Continue\r\n\r\n'));
    wanted.socket.write('hello');
    expect((await wanted.reply()).status).toBe(201);

    const body = '{"name":"general"}';
    const lines = [`Content-Length: ${body.length}`, 'Expect: 100-continue'];
    const json = uploadHead(owner, { room }, ['Content-Type: application/json', ...lines]).replace(
      /\/v1\/files\S+/,
      '/v1/rooms',
    );
    const other = await connect(t.origin, json);
    open.push(other);
    await eventually(() => expect(other.text()).toContain(' 100 '));
    other.socket.write(body);
    expect((await other.reply()).status).toBe(201);
  });

  test('a refused body is read to its end, so that the reply arrives and the connection goes on', async () => {
    const room = await group(t, owner);
    const stranger = await t.agent();
    const connection = await half(stranger, room);
    expect((await connection.reply()).status).toBe(404);
    connection.socket.write(randomBytes(SIZE / 2));
    connection.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await eventually(() => expect(connection.text()).toContain('{"ok":true}'));
  });
});

test('uploads under way hold no connection of the database', async () => {
  const room = await group(t, owner, member);
  const uploads = [];
  for (const who of [owner, owner, owner, member, member, member])
    uploads.push(await half(who, room));
  await underWay(room, 6);
  await t.api.call('listRooms', { token: owner.token, expect: 200 });
  for (const { socket } of uploads) socket.write(randomBytes(SIZE / 2));
  for (const upload of uploads) expect((await upload.reply()).status).toBe(201);
  expect(await kept(t, room)).toEqual({ files: 6, bytes: 6 * SIZE });
});

test('an identity has eight transfers under way; a ninth is told when to come back', async () => {
  const room = await group(t, owner, member);
  const uploads = [];
  for (let i = 0; i < LIMITS.transfers; i++) uploads.push(await half(owner, room));
  await underWay(room, LIMITS.transfers);
  const { token } = owner;
  const query = { room, name: 'x' };
  const bytes = Buffer.from('x');
  const { body, headers } = await t.api.call('uploadFile', { token, query, bytes, expect: 429 });
  expect(body.error).toMatchObject({ code: 'too_many_transfers', details: { retryAfter: 1 } });
  expect(headers['retry-after']).toBe('1');
  // Somebody else is not affected.
  const file = await upload(t, member, room);
  const params = { id: file.id };
  const refused = await t.api.call('downloadFile', { token, params, expect: 429 });
  expect(errorOf(refused).code).toBe('too_many_transfers');
  for (const { socket } of uploads) socket.destroy();
  await eventually(async () => expect(await kept(t, room)).toEqual({ files: 1, bytes: 1000 }));
  await t.api.call('downloadFile', { token, params, expect: 200 });
});
