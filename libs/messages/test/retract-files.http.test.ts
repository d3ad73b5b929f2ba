import { randomBytes, randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { ApiReply } from '@relayger/kernel/testing';
import type { Receipt } from '@relayger/protocol';
import { correction, draft, messageAt, retraction, revise, reviseRaw } from './revising.js';
import { group, reason, send, sendRaw, upTo } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
});
afterAll(() => t.close());
beforeEach(async () => {
  room = await group(t, alice, bob);
});

async function upload({ token }: TestAgent, size = 1000): Promise<string> {
  const query = { room, name: 'notes.txt' };
  const bytes = randomBytes(size);
  return (await t.api.call('uploadFile', { token, query, bytes, expect: 201 })).body.id;
}

/** Sends a text with these files. */
const attach = (who: TestAgent, ...attachments: string[]): Promise<Receipt> =>
  send(t, who, room, draft('text', { text: 'see', attachments }));

/** Whether both can download it; nobody can once it is gone. */
async function isThere(id: string): Promise<boolean> {
  const path = `/v1/files/${id}`;
  const replies = await Promise.all(
    [alice, bob].flatMap(({ token }) => [
      t.api.raw('GET', path, { token }),
      t.api.raw('GET', `${path}/metadata`, { token }),
    ]),
  );
  const statuses = new Set(replies.map(({ status }) => status));
  expect(statuses.size).toBe(1);
  return statuses.has(200);
}

async function storedBytes(): Promise<number> {
  const { rows } = await t.database.pool.query(
    'SELECT stored_bytes::int AS bytes FROM rooms WHERE id = $1',
    [room],
  );
  return rows[0].bytes as number;
}

test('what the sender uploaded goes with the message: no download, and the room has its bytes back', async () => {
  const files = [await upload(alice, 1000), await upload(alice, 500)];
  const kept = await upload(alice, 30);
  const sent = await attach(alice, ...files);
  expect(await storedBytes()).toBe(1530);
  await revise(t, alice, sent, correction('a correction takes nothing'));
  expect(await Promise.all(files.map(isThere))).toEqual([true, true]);
  await revise(t, alice, sent, retraction());
  expect(await Promise.all([...files, kept].map(isThere))).toEqual([false, false, true]);
  expect(await storedBytes()).toBe(30);
  // Nobody can send them again.
  for (const fileId of files) {
    const body = draft('artifact', { fileId, caption: '' });
    const options = { token: bob.token, params: { room }, body, expect: 400 as const };
    expect(reason(await t.api.call('sendMessage', options))).toBe('body.payload.fileId');
  }
});

test('what somebody else uploaded, or another message uses, stays', async () => {
  const [ofBob, shared, shown, alone] = [
    await upload(bob),
    await upload(alice),
    await upload(alice),
    await upload(alice),
  ];
  const other = await attach(bob, shared);
  await send(t, bob, room, draft('artifact', { fileId: shown, caption: '' }));
  const sent = await attach(alice, ofBob, shared, shown, alone);
  await revise(t, alice, sent, retraction());
  expect(await Promise.all([ofBob, shared, shown, alone].map(isThere))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  // Bob's message goes too: what alice uploaded is not his to remove.
  await revise(t, bob, other, retraction());
  expect(await isThere(shared)).toBe(true);
});

test('of two messages with one file the last to be retracted takes it along', async () => {
  const file = await upload(alice);
  const [one, two] = [await attach(alice, file), await attach(alice, file)];
  await revise(t, alice, one, retraction());
  expect(await isThere(file)).toBe(true);
  await revise(t, alice, two, retraction());
  expect([await isThere(file), await storedBytes()]).toEqual([false, 0]);
});

test('two messages with one file, retracted at once, take it along', async () => {
  for (const _ of upTo(5)) {
    const file = await upload(alice);
    const sent = await Promise.all(upTo(3).map(() => attach(alice, file)));
    await Promise.all(sent.map((one) => revise(t, alice, one, retraction())));
    expect([await isThere(file), await storedBytes()]).toEqual([false, 0]);
  }
});

test('20 parallel retries of a retraction give the bytes back once', async () => {
  const file = await upload(alice, 700);
  await upload(alice, 50);
  const sent = await attach(alice, file);
  const body = retraction();
  const replies = await Promise.all(upTo(20).map(() => reviseRaw(t, alice, sent, body)));
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(19);
  expect(await storedBytes()).toBe(50);
});

test('a message that attaches the file at the same moment either keeps it or is refused', async () => {
  for (const _ of upTo(12)) {
    const file = await upload(alice);
    const sent = await attach(alice, file);
    const late = draft('text', { text: 'also here', attachments: [file] });
    const [, reply] = (await Promise.all([
      revise(t, alice, sent, retraction()),
      sendRaw(t, bob, room, late),
    ])) as [Receipt, ApiReply];
    expect([201, 400]).toContain(reply.status);
    expect(await isThere(file)).toBe(reply.status === 201);
    if (reply.status !== 201) continue;
    const stored = await messageAt(t, bob, reply.body as Receipt);
    expect(stored.payload).toMatchObject({ attachments: [file] });
  }
});

test('a retraction that is refused takes nothing', async () => {
  const file = await upload(alice);
  const sent = await attach(alice, file);
  const spent = draft('text', { text: 'a' }, { clientMessageId: randomUUID() });
  await send(t, alice, room, spent);
  const conflict = await reviseRaw(t, alice, sent, retraction(spent.clientMessageId));
  expect(conflict.status).toBe(409);
  expect((await reviseRaw(t, bob, sent, retraction())).status).toBe(404);
  expect([await isThere(file), await storedBytes()]).toEqual([true, 1000]);
  expect((await messageAt(t, bob, sent)).payload).toEqual({ text: 'see', attachments: [file] });
});
