import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { SendMessage } from '@relayger/protocol';
import { group, upload } from './support.js';

let t: TestApi;
let owner: TestAgent;
let peer: TestAgent;
let room: string;
let foreign: string;
beforeAll(async () => {
  t = await startTestApi();
  owner = await t.agent();
  peer = await t.agent();
  room = await group(t, owner, peer);
  foreign = (await upload(t, owner, await group(t, owner))).id;
});
afterAll(() => t.close());

const text = (attachments: string[]) =>
  textMessage('see files', { payload: { text: 'see files', attachments } });
const artifact = (fileId: string) =>
  textMessage('', { type: 'artifact', payload: { fileId, caption: 'result' } } as never);

async function send(body: SendMessage, expect: 201 | 400) {
  const sent = { token: owner.token, params: { room }, body, expect: expect as 201 };
  return (await t.api.call('sendMessage', sent)).body;
}
async function refusedAt(body: SendMessage): Promise<string | undefined> {
  const { error } = (await send(body, 400)) as unknown as {
    error: { details?: { issues: { path: string }[] } };
  };
  return error.details?.issues[0]?.path;
}
async function fileIn(state: 'uploading' | 'removed'): Promise<string> {
  const { id } = await upload(t, owner, room);
  await t.database.pool.query('UPDATE files SET state = $2 WHERE id = $1', [id, state]);
  return id;
}

test('a text has up to eight files of its room, whoever has uploaded them', async () => {
  const files = await Promise.all(
    Array.from({ length: 8 }, (_, i) => upload(t, i % 2 === 0 ? owner : peer, room)),
  );
  const attachments = files.map(({ id }) => id);
  expect(await send(text(attachments), 201)).toMatchObject({ payload: { attachments } });
  expect(await refusedAt(text([...attachments, (await upload(t, owner, room)).id]))).toBe(
    'body.payload.attachments',
  );
});

test('an artifact is a file of its room', async () => {
  const { id } = await upload(t, peer, room);
  expect(await send(artifact(id), 201)).toMatchObject({ payload: { fileId: id } });
});

test('a file that is of another room, unknown, uploading or removed is not sent', async () => {
  const { id: good } = await upload(t, owner, room);
  for (const bad of [foreign, randomUUID(), await fileIn('uploading'), await fileIn('removed')]) {
    expect(await refusedAt(text([bad]))).toBe('body.payload.attachments');
    expect(await refusedAt(text([good, bad]))).toBe('body.payload.attachments');
    expect(await refusedAt(artifact(bad))).toBe('body.payload.fileId');
  }
});

test('a file is attached once', async () => {
  const { id } = await upload(t, owner, room);
  expect(await refusedAt(text([id, id]))).toMatch(/^body\.payload\.attachments/);
});

test('the attachments of a repeated send are not looked at again', async () => {
  const { id } = await upload(t, owner, room);
  const body = text([id]);
  const first = await send(body, 201);
  await t.database.pool.query(`UPDATE files SET state = 'removed' WHERE id = $1`, [id]);
  const sent = { token: owner.token, params: { room }, body, expect: 200 as const };
  const { body: again } = await t.api.call('sendMessage', sent);
  expect(again).toMatchObject({ messageId: (first as { messageId: string }).messageId });
});
