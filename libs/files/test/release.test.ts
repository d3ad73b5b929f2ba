import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import { FilesService } from '@relayger/files';
import { eventually, group, kept, objectsIn, upload } from './support.js';

let t: TestApi;
let owner: TestAgent;
let peer: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi();
  owner = await t.agent();
  peer = await t.agent();
});
beforeEach(async () => {
  room = await group(t, owner, peer);
});
afterAll(() => t.close());

const say = (attachments: string[]) =>
  textMessage('see files', { payload: { text: 'see files', attachments } });
async function send({ token }: TestAgent, attachments: string[]): Promise<string> {
  const body = say(attachments);
  const sent = { token, params: { room }, body, expect: 201 as const };
  return ((await t.api.call('sendMessage', sent)).body as { messageId: string }).messageId;
}
async function retract({ token }: TestAgent, message: string) {
  const path = `/v1/rooms/${room}/messages/${message}/revise`;
  const body = { action: 'retract', clientMessageId: randomUUID() };
  await t.api.raw('POST', path, { token, body, expect: 201 });
}
async function status(id: string): Promise<number> {
  return (await t.api.raw('GET', `/v1/files/${id}`, { token: peer.token })).status;
}

test('the files of a retracted message cannot be downloaded any more, their objects go and their bytes are free', async () => {
  const before = await objectsIn(t.dataDir);
  const files = [await upload(t, owner, room), await upload(t, owner, room)];
  const message = await send(
    owner,
    files.map(({ id }) => id),
  );
  await retract(owner, message);
  for (const { id } of files) expect(await status(id)).toBe(404);
  await eventually(async () => {
    expect(await kept(t, room)).toEqual({ files: 0, bytes: 0 });
    expect((await objectsIn(t.dataDir)).sort()).toEqual(before.sort());
  });
});

test('a file that another message uses stays until the last of them is retracted', async () => {
  const { id } = await upload(t, owner, room);
  const [first, second] = [await send(owner, [id]), await send(owner, [id])];
  const artifact = textMessage('', {
    type: 'artifact',
    payload: { fileId: id, caption: '' },
  } as never);
  await retract(owner, first);
  expect(await status(id)).toBe(200);
  const { token } = peer;
  await t.api.call('sendMessage', { token, params: { room }, body: artifact, expect: 201 });
  await retract(owner, second);
  expect(await status(id)).toBe(200);
  expect(await kept(t, room)).toEqual({ files: 1, bytes: 1000 });
});

test('a file that somebody else has uploaded stays', async () => {
  const { id } = await upload(t, peer, room);
  await retract(owner, await send(owner, [id]));
  expect(await status(id)).toBe(200);
  // It is of no use for the message any longer: its uploader may let it go.
  await retract(peer, await send(peer, [id]));
  expect(await status(id)).toBe(404);
});

test('a file that something else still uses stays, and what it is asked about is not in use by messages', async () => {
  const service = new FilesService(t.database, {} as never, {} as never, { wake() {} } as never);
  const [kept1, gone, linked] = [
    await upload(t, owner, room),
    await upload(t, owner, room),
    await upload(t, owner, room),
  ];
  const message = await send(owner, [kept1.id, gone.id, linked.id]);
  await send(owner, [linked.id]);
  const asked: (readonly string[])[] = [];
  service.onUse(async (_sql, roomId, fileIds) => {
    expect(roomId).toBe(room);
    asked.push(fileIds);
    return [kept1.id, randomUUID()];
  });
  service.onUse(async (_sql, _roomId, fileIds) => {
    asked.push(fileIds);
    return [];
  });
  await t.database.transaction((sql) => service.release(sql, room, message, owner.id));
  expect(asked.map((ids) => [...ids].sort())).toEqual([[kept1.id, gone.id].sort(), [gone.id]]);
  expect([await status(kept1.id), await status(gone.id), await status(linked.id)]).toEqual([
    200, 404, 200,
  ]);
});

test('a file that is ready and of the room can be required; others are refused where they stood', async () => {
  const service = new FilesService(t.database, {} as never, {} as never, {} as never);
  const { id } = await upload(t, owner, room);
  await service.requireReady(t.database, room, id, 'body.action.fileId');
  for (const [where, file] of [
    [room, randomUUID()],
    [randomUUID(), id],
  ] as const) {
    const required = service.requireReady(t.database, where, file, 'body.action.fileId');
    await expect(required).rejects.toMatchObject({
      code: 'invalid_request',
      details: { issues: [{ path: 'body.action.fileId' }] },
    });
  }
});

test('a message that uses a file while it is being retracted either keeps it or is refused', async () => {
  const outcomes = new Set<number>();
  for (let round = 0; round < 12; round++) {
    const { id } = await upload(t, owner, room);
    const message = await send(owner, [id]);
    const [, sent] = await Promise.all([
      retract(owner, message),
      t.api.raw('POST', `/v1/rooms/${room}/messages`, { token: peer.token, body: say([id]) }),
    ]);
    expect([201, 400]).toContain(sent.status);
    outcomes.add(sent.status);
    expect({ sent: sent.status, file: await status(id) }).toEqual({
      sent: sent.status,
      file: sent.status === 201 ? 200 : 404,
    });
  }
  expect(outcomes.size).toBeGreaterThan(0);
});
