import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { SendMessage } from '@relayger/protocol';
import { sealedPayload } from './sealed.js';
import { crowd, group, mailbox, refusal, roomOf, send, upTo, wholeHistory } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
  room = await group(t, alice, bob);
});
afterAll(() => t.close());

const draft = (type: string, payload: unknown, more: object = {}) =>
  ({ schemaVersion: 1, type, payload, clientMessageId: randomUUID(), ...more }) as SendMessage;

const emoji = (count: number) => '😀'.repeat(count);
/** A data payload whose object takes exactly so many bytes of compact JSON. */
const dataOf = (bytes: number) => ({ schema: 'blob.v1', data: { k: 'a'.repeat(bytes - 8) } });

const stored: [string, string, unknown][] = [
  ['text of one character', 'text', { text: 'a' }],
  ['text of 16000 bytes in 4-byte characters', 'text', { text: emoji(4000) }],
  ['text with line breaks and quotes', 'text', { text: 'a\r\n\t"\\/\u2028\u0001b' }],
  ['data of exactly 32 KiB', 'data', dataOf(32_768)],
  ['data of 32 KiB in 4-byte characters', 'data', { schema: 'a', data: { k: emoji(8190) } }],
  ['empty data', 'data', { schema: 'empty', data: {} }],
  [
    'data of any shape under any schema name',
    'data',
    { schema: 'invoice.v1.draft_2', data: { 2: [null, true, { x: [] }], 1: 1e-7, ' ': '' } },
  ],
  ['data with a summary of 2000 bytes', 'data', { schema: 'a', data: { a: 1 }, text: emoji(500) }],
  ...['online', 'idle', 'working', 'waiting', 'offline'].map((state): [string, string, unknown] => [
    `status ${state}`,
    'status',
    { state },
  ]),
];

test.each(stored)('stores and returns unchanged: %s', async (_name, type, payload) => {
  const body = draft(type, payload);
  const query = { view: 'full' as const };
  const sent = await t.api.call('sendMessage', {
    token: alice.token,
    params: { room },
    query,
    body,
    expect: 201,
  });
  expect(sent.body).toMatchObject({ type, payload });
  const history = await wholeHistory(t, bob, room);
  expect(history.at(-1)).toEqual(sent.body);
  const { items } = await mailbox(t, bob, { consume: '1' });
  if (type === 'status') expect(items).toEqual([]);
  else expect(items).toMatchObject([{ type, body: payload }]);
});

test('stores sealed content for 32 members, with 40000 bytes of ciphertext', async () => {
  const members = await crowd(t, 31);
  const full = await group(t, alice, ...members);
  const ids = [alice, ...members].map(({ id }) => id);
  const payload = sealedPayload({ recipients: ids, bytes: 40_000 });
  const { id } = await send(t, alice, full, draft('sealed', payload));
  const reader = members[0] as TestAgent;
  expect((await mailbox(t, reader)).items).toMatchObject([{ id, type: 'sealed', body: payload }]);

  const strangers = sealedPayload({ recipients: [alice.id, bob.id] });
  expect(await refusal(t, alice, full, draft('sealed', strangers))).toBe('body.payload.recipients');
  const nobody = sealedPayload({ recipients: [alice.id, randomUUID()] });
  expect(await refusal(t, alice, full, draft('sealed', nobody))).toBe('body.payload.recipients');
});

const sealed = () => sealedPayload({ recipients: [bob.id] });
const uuid = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';
const refused: [string, string, () => unknown, string][] = [
  ['no text', 'text', () => ({}), 'body.payload.text'],
  ['empty text', 'text', () => ({ text: '' }), 'body.payload.text'],
  [
    'text of 16001 bytes in 4001 characters',
    'text',
    () => ({ text: `${emoji(4000)}a` }),
    'body.payload.text',
  ],
  ['text with NUL', 'text', () => ({ text: 'a\u0000b' }), 'body.payload.text'],
  ['text with half a character', 'text', () => ({ text: 'a\ud83d' }), 'body.payload.text'],
  ['text that is a number', 'text', () => ({ text: 1 }), 'body.payload.text'],
  ['an unknown payload field', 'text', () => ({ text: 'a', html: '' }), 'body.payload'],
  [
    'nine attachments',
    'text',
    () => ({ text: 'a', attachments: ids(9) }),
    'body.payload.attachments',
  ],
  [
    'an absent file',
    'text',
    () => ({ text: 'a', attachments: ids(1) }),
    'body.payload.attachments',
  ],
  ['data of 32 KiB and a byte', 'data', () => dataOf(32_769), 'body.payload.data'],
  ['a list as data', 'data', () => ({ schema: 'a', data: [] }), 'body.payload.data'],
  [
    'NUL in a value',
    'data',
    () => ({ schema: 'a', data: { k: ['\u0000'] } }),
    'body.payload.data.k[0]',
  ],
  ['NUL in a key', 'data', () => ({ schema: 'a', data: { '\u0000': 1 } }), 'body.payload.data'],
  ['a bad schema name', 'data', () => ({ schema: 'Invoice', data: {} }), 'body.payload.schema'],
  [
    'a summary of 2001 bytes',
    'data',
    () => ({ schema: 'a', data: {}, text: `${emoji(500)}a` }),
    'body.payload.text',
  ],
  ['another algorithm', 'sealed', () => ({ ...sealed(), alg: 'rot13' }), 'body.payload.alg'],
  [
    'ciphertext of 40001 bytes',
    'sealed',
    () => sealedPayload({ recipients: [bob.id], bytes: 40_001 }),
    'body.payload.ciphertext',
  ],
  [
    'padded base64',
    'sealed',
    () => ({ ...sealed(), ciphertext: 'YQ==' }),
    'body.payload.ciphertext',
  ],
  [
    'a short key',
    'sealed',
    () => ({ ...sealed(), ephemeralKey: 'k' }),
    'body.payload.ephemeralKey',
  ],
  ['no recipient', 'sealed', () => sealedPayload({ recipients: [] }), 'body.payload.recipients'],
  [
    'a recipient twice',
    'sealed',
    () => sealedPayload({ recipients: [bob.id, bob.id] }),
    'body.payload.recipients',
  ],
  [
    '33 recipients',
    'sealed',
    () => sealedPayload({ recipients: ids(33) }),
    'body.payload.recipients',
  ],
  [
    'a text that takes more than 63,000 bytes as JSON',
    'text',
    () => ({ text: '\u0001'.repeat(10_499) }),
    'body.payload',
  ],
  ['an absent file', 'artifact', () => ({ fileId: uuid, caption: '' }), 'body.payload.fileId'],
  ['an unknown state', 'status', () => ({ state: 'busy' }), 'body.payload.state'],
  ['a task', 'task', () => ({ taskId: uuid, summary: 's' }), 'body.type'],
  ['a result', 'result', () => ({ taskId: uuid, text: 't' }), 'body.type'],
  ['an approval request', 'approval_request', () => ({ approvalId: uuid }), 'body.type'],
  ['an approval decision', 'approval_decision', () => ({ approvalId: uuid }), 'body.type'],
  [
    'a revision',
    'revision',
    () => ({ messageId: uuid, sequence: '1', action: 'retract' }),
    'body.type',
  ],
  ['progress', 'progress', () => ({ taskId: uuid, percent: 1 }), 'body.type'],
  ['an unknown type', 'image', () => ({}), 'body.type'],
];
function ids(count: number): string[] {
  return upTo(count).map(() => randomUUID());
}

test.each(refused)('refuses %s (%s) and stores nothing', async (_name, type, payload, path) => {
  const before = (await roomOf(t, alice, room)).sequence;
  expect(await refusal(t, alice, room, draft(type, payload()))).toBe(path);
  expect((await roomOf(t, alice, room)).sequence).toBe(before);
});

const envelopes: [string, object, string][] = [
  ['another schema version', { schemaVersion: 2 }, 'body.schemaVersion'],
  ['a sender', { sender: { id: uuid } }, 'body'],
  ['a sequence', { sequence: '1' }, 'body'],
  ['no key', { clientMessageId: undefined }, 'body.clientMessageId'],
  ['a key in capitals', { clientMessageId: uuid.toUpperCase() }, 'body.clientMessageId'],
  ['a key that is no UUID', { clientMessageId: 'retry-1' }, 'body.clientMessageId'],
  ['an absent task', { rootTaskId: uuid }, 'body.rootTaskId'],
  ['no payload', { payload: undefined }, 'body.payload'],
];

test.each(envelopes)('refuses %s', async (_name, change, path) => {
  expect(await refusal(t, alice, room, textMessage('hello', change))).toBe(path);
});

test('a message to a room of others, or to none, is not found', async () => {
  const carol = await t.agent('carol');
  for (const where of [room, randomUUID()]) {
    expect(await refusal(t, carol, where, textMessage('hello'), 404)).toBe('not_found');
  }
  expect(await refusal(t, carol, room.toUpperCase(), textMessage('hello'))).toBe('params.room');
});

test('the largest payloads make envelopes of at most 64 KiB', async () => {
  const payload = { text: '\u0001'.repeat(10_498) };
  const body = { ...draft('text', payload), mentions: [alice.id, bob.id] } as SendMessage;
  const { token } = alice;
  const sent = await t.api.call('sendMessage', { token, params: { room }, body, expect: 201 });
  expect(Buffer.byteLength(JSON.stringify(sent.body))).toBeLessThanOrEqual(65_536 - 32 * 39);
});
