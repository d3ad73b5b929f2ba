import { randomBytes, randomUUID } from 'node:crypto';
import { openToken, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { LIMITS } from '@relayger/protocol';
import { group, kept, objectsIn, openDm, setContact, sha256, upload } from './support.js';
import { uploadHead, wire } from './wire.js';

let t: TestApi;
let owner: TestAgent;
let peer: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi();
  owner = await t.agent();
  peer = await t.agent();
  room = await group(t, owner, peer);
});
afterAll(() => t.close());

const refusedOf = (body: unknown) =>
  (body as { error: { code: string; details?: { issues?: { path: string; message: string }[] } } })
    .error;

test('a file is described as it was received, and every member gets it back byte by byte', async () => {
  const file = await upload(t, owner, room, { name: 'Bericht.pdf' });
  expect(file).toMatchObject({
    roomId: room,
    name: 'Bericht.pdf',
    size: 1000,
    sha256: sha256(file.bytes),
    state: 'ready',
  });
  expect(Math.abs(Date.parse(file.createdAt) - Date.now())).toBeLessThan(60_000);
  const { bytes, ...described } = file;
  for (const { token } of [owner, peer]) {
    const params = { id: file.id };
    const { body } = await t.api.call('getFile', { token, params, expect: 200 });
    expect(body).toEqual(described);
    const download = await t.api.call('downloadFile', { token, params, expect: 200 });
    expect(download.body).toEqual(bytes);
  }
});

test('the body may have any content type or none, JSON included, and is not looked at', async () => {
  const bytes = Buffer.from('{"a":');
  const types = [
    'application/json',
    'application/json; charset=utf-8',
    'text/html',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/vnd.relayger+json',
    ';',
    '',
    undefined,
  ];
  for (const type of types) {
    const { body } = await t.api.call('uploadFile', {
      token: owner.token,
      query: { room, name: 'x' },
      bytes,
      headers: { 'content-type': type },
      expect: 201,
    });
    expect(body.sha256).toBe(sha256(bytes));
  }
});

test('what would be refused as JSON is kept as bytes: no UTF-8, no NUL rule, no 64 KiB', async () => {
  const bytes = Buffer.concat([Buffer.from([0, 0xff, 0xc0]), randomBytes(LIMITS.bodyBytes * 2)]);
  expect((await upload(t, owner, room, { bytes })).sha256).toBe(sha256(bytes));
});

test('an empty file is a file', async () => {
  const file = await upload(t, owner, room, { bytes: Buffer.alloc(0) });
  expect(file).toMatchObject({ size: 0, sha256: sha256(Buffer.alloc(0)) });
  const params = { id: file.id };
  const { body } = await t.api.call('downloadFile', { token: peer.token, params, expect: 200 });
  expect(body).toEqual(Buffer.alloc(0));
});

test('equal bytes under one name are two files with objects of their own', async () => {
  const bytes = Buffer.from('same');
  const [a, b] = [await upload(t, owner, room, { bytes }), await upload(t, owner, room, { bytes })];
  expect(a.id).not.toBe(b.id);
});

test('16 MiB are a file; one byte more is refused', async () => {
  const bytes = randomBytes(LIMITS.uploadBytes);
  const file = await upload(t, owner, room, { bytes });
  expect(file).toMatchObject({ size: 16_777_216, sha256: sha256(bytes) });
  const params = { id: file.id };
  const { body } = await t.api.call('downloadFile', { token: peer.token, params, expect: 200 });
  expect(sha256(body as Buffer)).toBe(file.sha256);

  const before = await kept(t, room);
  const { body: refused } = await t.api.call('uploadFile', {
    token: owner.token,
    query: { room, name: 'x' },
    bytes: Buffer.alloc(LIMITS.uploadBytes + 1),
    expect: 413,
  });
  expect(refused.error).toMatchObject({
    code: 'file_too_large',
    details: { limitBytes: 16_777_216 },
  });
  expect(await kept(t, room)).toEqual(before);
});

test('without Content-Length nothing is taken, chunked or not at all', async () => {
  const { body } = await t.api.call('uploadFile', {
    token: owner.token,
    query: { room, name: 'x' },
    bytes: Buffer.from('x'),
    headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' },
    expect: 411,
  });
  expect(body.error.code).toBe('length_required');
  const { status, text } = await wire(t.origin, uploadHead(owner, { room }, []));
  expect({ status, text }).toEqual({
    status: 411,
    text: expect.stringContaining('length_required'),
  });
});

describe('a name', () => {
  const good = [
    'a',
    'report.pdf',
    ' ',
    'con.txt',
    'C033 "quoted" \'single\' `back`.txt',
    'semi;colon=and,comma%20percent.txt',
    '.bashrc',
    '...',
    '..hidden',
    'ünïcödé 報告 📄.pdf',
    'e\u0301',
    '\u202egnp.exe',
    '-rf',
    '$(rm) {a} [b] <c> |d| *e* ?f? :g:',
    'x'.repeat(255),
    '報'.repeat(85),
  ];
  test.each(good)('may be %j', async (name) => {
    const file = await upload(t, owner, room, { name });
    expect(file.name).toBe(name);
    const params = { id: file.id };
    const { body } = await t.api.call('getFile', { token: peer.token, params, expect: 200 });
    expect(body.name).toBe(name);
  });

  const bad: [name: string, says: string][] = [
    ['', 'empty'],
    ['.', 'must not be . or ..'],
    ['..', 'must not be . or ..'],
    ['../../etc/passwd', '/'],
    ['a/b', '/'],
    ['a\\b', '/'],
    ['a\u0000b', 'U+0000'],
    ['a\r\nX-Injected: 1', 'one line'],
    ['a\nb', 'one line'],
    ['a\tb', 'one line'],
    ['a\u007fb', 'one line'],
    ['a\u0085b', 'one line'],
    ['a\u2028b', 'one line'],
    ['x'.repeat(256), '255'],
    ['報'.repeat(86), '255'],
  ];
  test.each(bad)('may not be %j', async (name, says) => {
    const { body } = await t.api.call('uploadFile', {
      token: owner.token,
      query: { room, name },
      bytes: Buffer.from('x'),
      expect: 400,
    });
    const [issue] = refusedOf(body).details?.issues ?? [];
    expect(issue?.path).toBe('query.name');
    expect(issue?.message).toContain(says);
  });

  test('that is not percent-encoded UTF-8 is refused, not stored as it stands', async () => {
    for (const name of ['%ff', '%', 'a%e2%82', '%c0%af', '%ed%a0%80']) {
      const path = `/v1/files?room=${room}&name=${name}`;
      const sent = { token: owner.token, bytes: Buffer.from('x'), expect: 400 };
      const { body } = await t.api.raw('POST', path, sent);
      expect(refusedOf(body).details?.issues?.[0]?.path).toBe('query.name');
    }
  });
});

test('room and name are required, once each, and nothing else is taken', async () => {
  const { token } = owner;
  for (const [query, path] of [
    ['name=x', 'query.room'],
    [`room=${room}`, 'query.name'],
    [`room=${room.toUpperCase()}&name=x`, 'query.room'],
    ['room=general&name=x', 'query.room'],
    [`room=${room}&name=a&name=b`, 'query.name'],
    [`room=${room}&room=${room}&name=a`, 'query.room'],
    [`room=${room}&name=x&overwrite=1`, 'query'],
  ]) {
    const sent = { token, bytes: Buffer.from('x'), expect: 400 };
    const { body } = await t.api.raw('POST', `/v1/files?${query}`, sent);
    expect({ query, path: refusedOf(body).details?.issues?.[0]?.path }).toEqual({ query, path });
  }
});

describe('who may upload', () => {
  const attempt = async (token: string | undefined, to: string, expect: number) => {
    const query = { room: to, name: 'x' };
    const sent = { ...(token && { token }), query, bytes: Buffer.from('x'), expect };
    return refusedOf((await t.api.call('uploadFile', sent as never)).body).code;
  };

  test('is a member, with the scope files and a token for this room', async () => {
    const stranger = await t.agent();
    const other = await group(t, owner);
    expect(await attempt(undefined, room, 401)).toBe('unauthorized');
    expect(await attempt(`rly_${'x'.repeat(43)}`, room, 401)).toBe('unauthorized');
    const narrow = await openToken(t, owner, { scopes: ['read', 'write', 'rooms'] });
    expect(await attempt(narrow, room, 403)).toBe('insufficient_scope');
    expect(await attempt(stranger.token, room, 404)).toBe('not_found');
    expect(await attempt(owner.token, randomUUID(), 404)).toBe('not_found');
    const limited = await openToken(t, owner, { roomIds: [other] });
    expect(await attempt(limited, room, 404)).toBe('not_found');
    await upload(t, { token: limited }, other);
  });

  test('in a direct conversation is a friend, as for sending', async () => {
    const [a, b] = [await t.agent(), await t.agent()];
    await t.befriend(a, b);
    const dm = await openDm(t, a, b);
    await upload(t, a, dm);
    await upload(t, b, dm);
    await setContact(t, a, b, 'remove');
    expect(await attempt(a.token, dm, 403)).toBe('contact_required');
    expect(await attempt(b.token, dm, 403)).toBe('contact_required');
    await setContact(t, a, b, 'block');
    expect(await attempt(a.token, dm, 403)).toBe('contact_unavailable');
    expect(await attempt(b.token, dm, 403)).toBe('contact_unavailable');
    expect(await kept(t, dm)).toEqual({ files: 2, bytes: 2000 });
  });
});

test('objects have random keys: neither name nor id nor checksum leads to one', async () => {
  const file = await upload(t, owner, room, { name: 'secret-plan.txt' });
  const { rows } = await t.database.pool.query<{ object_key: string }>(
    'SELECT object_key FROM files WHERE id = $1',
    [file.id],
  );
  const key = rows[0]?.object_key ?? '';
  expect(key).toMatch(/^[0-9a-f]{48}$/);
  expect(key).not.toContain(file.id.replaceAll('-', '').slice(0, 12));
  const objects = await objectsIn(t.dataDir);
  expect(objects).toContain(key);
  for (const object of objects) expect(object).toMatch(/^[0-9a-f]{48}$/);
});
