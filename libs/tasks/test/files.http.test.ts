import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import { claim, create, crew, custom, group, update } from './support.js';

let t: TestApi;
let boss: TestAgent;
let worker: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [boss, worker] = (await crew(t, 2)) as [TestAgent, TestAgent];
  room = await group(t, boss, worker);
});
afterAll(() => t.close());

/** A file that a message of its uploader has. */
async function sharedFile() {
  const query = { room, name: 'notes.txt' };
  const bytes = Buffer.from('notes');
  const file = await t.api.call('uploadFile', { token: boss.token, query, bytes, expect: 201 });
  const payload = { text: 'the notes', attachments: [file.body.id] };
  const body = textMessage('', { payload });
  const options = { token: boss.token, params: { room }, query: { view: 'receipt' as const } };
  const sent = await t.api.call('sendMessage', { ...options, body, expect: 201 });
  return { file: file.body.id, message: (sent.body as { id: string }).id };
}

async function retract(id: string): Promise<void> {
  const body = { action: 'retract' as const, clientMessageId: randomUUID() };
  await t.api.call('reviseMessage', { token: boss.token, params: { room, id }, body, expect: 201 });
}

const download = (id: string, expect: 200 | 404) =>
  t.api.call('downloadFile', { token: boss.token, params: { id }, expect });

test('a retraction removes a file, and not one that a task names in its input', async () => {
  const [free, used] = [await sharedFile(), await sharedFile()];
  await create(t, boss, custom(room, worker, { data: { sources: [{ fileId: used.file }] } }));
  await retract(free.message);
  await retract(used.message);
  await download(free.file, 404);
  await download(used.file, 200);
});

test('nor one that a task names in its result', async () => {
  const { file, message } = await sharedFile();
  const held = await claim(t, worker, await create(t, boss, custom(room, worker)));
  const result = { text: `See ${file}`, data: { fileId: file } };
  await update(t, worker, held, { state: 'completed', result });
  await retract(message);
  await download(file, 200);
});

test('a task of another room keeps no file', async () => {
  const { file, message } = await sharedFile();
  const place = await group(t, boss, worker);
  await create(t, boss, custom(place, worker, { data: { fileId: file } }));
  await retract(message);
  await download(file, 404);
});
