import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { MessageType } from '@relayger/protocol';
import { draft, seedFiles } from './revising.js';
import { sealedPayload } from './sealed.js';
import { drain, group, reason, refusal, roomOf, send, sendRaw } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = await Promise.all([t.agent('alice'), t.agent('bob')]);
  room = await group(t, alice, bob);
  await t.befriend(alice, bob);
});
afterAll(() => t.close());
afterEach(async () => {
  await Promise.all([drain(t, alice), drain(t, bob)]);
});

const emoji = (count: number) => '😀'.repeat(count);
const uuid = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';

describe('refuses', () => {
  const elsewhere = async () => seedFiles(t, await group(t, alice), alice, 1);
  const files: [string, () => Promise<string[]>][] = [
    ['a file of another room', elsewhere],
    ['a file that is still uploading', () => seedFiles(t, room, alice, 1, 'uploading')],
    ['a file that was removed', () => seedFiles(t, room, alice, 1, 'removed')],
    [
      'a ready file beside an absent one',
      async () => [...(await seedFiles(t, room, alice, 1)), uuid],
    ],
  ];
  test.each(files)('%s, attached and as an artifact', async (_name, make) => {
    const attachments = await make();
    const text = draft('text', { text: 'see', attachments });
    expect(await refusal(t, alice, room, text)).toBe('body.payload.attachments');
    const artifact = draft('artifact', { fileId: attachments.at(-1), caption: '' });
    expect(await refusal(t, alice, room, artifact)).toBe('body.payload.fileId');
  });

  test('the same file twice', async () => {
    const [file] = await seedFiles(t, room, alice, 1);
    const text = draft('text', { text: 'see', attachments: [file, file] });
    expect(await refusal(t, alice, room, text)).toBe('body.payload.attachments');
  });

  const sealed = (more: object) => ({ ...sealedPayload({ recipients: [bob.id] }), ...more });
  const recipient = (more: object) => {
    const { recipients, ...rest } = sealedPayload({ recipients: [bob.id] });
    return { ...rest, recipients: [{ ...recipients[0], ...more }] };
  };
  const payloads: [string, MessageType, () => object, string][] = [
    [
      'no attachments in a list',
      'text',
      () => ({ text: 'a', attachments: [] }),
      'body.payload.attachments',
    ],
    [
      'an attachment in capitals',
      'text',
      () => ({ text: 'a', attachments: [uuid.toUpperCase()] }),
      'body.payload.attachments[0]',
    ],
    [
      'a file in capitals',
      'artifact',
      () => ({ fileId: uuid.toUpperCase(), caption: '' }),
      'body.payload.fileId',
    ],
    ['no caption', 'artifact', () => ({ fileId: uuid }), 'body.payload.caption'],
    [
      'a caption of 2001 bytes',
      'artifact',
      () => ({ fileId: uuid, caption: `${emoji(500)}a` }),
      'body.payload.caption',
    ],
    [
      'an artifact with a text',
      'artifact',
      () => ({ fileId: uuid, caption: '', text: 'a' }),
      'body.payload',
    ],
    ['no state', 'status', () => ({}), 'body.payload.state'],
    ['a state in capitals', 'status', () => ({ state: 'Idle' }), 'body.payload.state'],
    ['a status with a text', 'status', () => ({ state: 'idle', text: 'a' }), 'body.payload'],
    ['no schema', 'data', () => ({ data: {} }), 'body.payload.schema'],
    ['no data', 'data', () => ({ schema: 'a' }), 'body.payload.data'],
    ['data that is null', 'data', () => ({ schema: 'a', data: null }), 'body.payload.data'],
    ['data that is a text', 'data', () => ({ schema: 'a', data: '{}' }), 'body.payload.data'],
    ['an empty summary', 'data', () => ({ schema: 'a', data: {}, text: '' }), 'body.payload.text'],
    [
      'data with attachments',
      'data',
      () => ({ schema: 'a', data: {}, attachments: [uuid] }),
      'body.payload',
    ],
    [
      'a nonce of 13 bytes',
      'sealed',
      () => sealed({ nonce: 'n'.repeat(18) }),
      'body.payload.nonce',
    ],
    [
      'ciphertext that is no base64url',
      'sealed',
      () => sealed({ ciphertext: 'a+/b' }),
      'body.payload.ciphertext',
    ],
    [
      'ciphertext of an impossible length',
      'sealed',
      () => sealed({ ciphertext: 'abcde' }),
      'body.payload.ciphertext',
    ],
    ['no ciphertext', 'sealed', () => sealed({ ciphertext: '' }), 'body.payload.ciphertext'],
    ['sealed with a text', 'sealed', () => sealed({ text: 'a' }), 'body.payload'],
    [
      'a recipient in capitals',
      'sealed',
      () => recipient({ id: bob.id.toUpperCase() }),
      'body.payload.recipients[0].id',
    ],
    [
      'a recipient by number',
      'sealed',
      () => recipient({ id: bob.number }),
      'body.payload.recipients[0].id',
    ],
    [
      'a key id that is none',
      'sealed',
      () => recipient({ keyId: '1' }),
      'body.payload.recipients[0].keyId',
    ],
    [
      'a wrapped key of 47 bytes',
      'sealed',
      () => recipient({ wrappedKey: 'w'.repeat(63) }),
      'body.payload.recipients[0].wrappedKey',
    ],
    [
      'an unknown field of a recipient',
      'sealed',
      () => recipient({ handle: 'bob' }),
      'body.payload.recipients[0]',
    ],
  ];
  test.each(payloads)('%s (%s)', async (_name, type, payload, path) => {
    expect(await refusal(t, alice, room, draft(type, payload()))).toBe(path);
  });

  test.each(['', 'A', '1a', '_a', '.a', 'a.', 'a..b', 'a b', 'a/b', 'ä', 'a.V1', 'a'.repeat(65)])(
    'the schema name "%s"',
    async (schema) => {
      const body = draft('data', { schema, data: {} });
      expect(await refusal(t, alice, room, body)).toBe('body.payload.schema');
    },
  );

  const envelopes: [string, object, string][] = [
    ['schema version "1"', { schemaVersion: '1' }, 'body.schemaVersion'],
    ['schema version 0', { schemaVersion: 0 }, 'body.schemaVersion'],
    ['no schema version', { schemaVersion: undefined }, 'body.schemaVersion'],
    ['no type', { type: undefined }, 'body.type'],
    ['a type in capitals', { type: 'Text' }, 'body.type'],
    ['a mention in capitals', { mentions: [uuid.toUpperCase()] }, 'body.mentions[0]'],
    ['mentions that are no list', { mentions: uuid }, 'body.mentions'],
    ['a task in capitals', { rootTaskId: uuid.toUpperCase() }, 'body.rootTaskId'],
    ['null for what is absent', { replyTo: null }, 'body.replyTo'],
    ['a sender by number', { from: '1234567897' }, 'body'],
    ['an id of its own', { messageId: uuid }, 'body'],
    ['a time of its own', { createdAt: '2026-12-31T23:59:59Z' }, 'body'],
    [
      'a revision',
      { revision: { state: 'corrected', count: 1, at: '2026-12-31T23:59:59Z' } },
      'body',
    ],
    ['attention that is null', { attention: null }, 'body.attention'],
  ];
  test.each(envelopes)('%s', async (_name, change, path) => {
    expect(await refusal(t, alice, room, textMessage('hello', change))).toBe(path);
  });

  test.each([
    '2026-12-31T23:59:59+00:00',
    '2026-12-31T23:59:59-00:00',
    '2026-12-31t23:59:59z',
    '2026-12-31 23:59:59Z',
    '20261231T235959Z',
    '2026-12-31T24:00:00Z',
    '2026-13-01T00:00:00Z',
    ' 2026-12-31T23:59:59Z',
    'tomorrow',
    1798761599,
    null,
  ])('attention until %p', async (expiresAt) => {
    const attention = { kind: 'question', expiresAt };
    const body = { ...textMessage('hello'), attention };
    expect(await refusal(t, alice, room, body)).toBe('body.attention.expiresAt');
  });

  const made: [MessageType, object][] = [
    ['task', { taskId: uuid, summary: 's' }],
    ['result', { taskId: uuid, text: 't' }],
    ['approval_request', { approvalId: uuid }],
    ['approval_decision', { approvalId: uuid }],
    ['revision', { messageId: uuid, sequence: '1', action: 'retract' }],
    ['progress', { taskId: uuid, percent: 1 }],
  ];
  test.each(made)(
    '%s, which only the server makes, also in a direct send',
    async (type, payload) => {
      const { sequence } = await roomOf(t, alice, room);
      expect(await refusal(t, alice, room, draft(type, payload))).toBe('body.type');
      const body = { target: bob.number, message: draft(type, payload) };
      const reply = await t.api.call('sendDirect', { token: alice.token, body, expect: 400 });
      expect(reason(reply)).toBe('body.message.type');
      expect((await roomOf(t, alice, room)).sequence).toBe(sequence);
    },
  );

  test.each<[MessageType, object]>([
    ...made,
    ['status', { state: 'idle' }],
    ['artifact', { fileId: uuid, caption: '' }],
  ])('attention on %s', async (type, payload) => {
    const body = draft(type, payload, { attention: { kind: 'question' } });
    await refusal(t, alice, room, body);
  });

  test('sealed content for somebody who has left, but not the retry of what was sent before', async () => {
    const carol = await t.agent('carol');
    const shared = await group(t, alice, bob, carol);
    const recipients = [alice.id, bob.id, carol.id];
    const body = draft('sealed', sealedPayload({ recipients }), {
      attention: { kind: 'question' },
    });
    const sent = await send(t, alice, shared, body);
    const params = { room: shared };
    await t.api.call('leaveRoom', { token: carol.token, params, body: {}, expect: 200 });
    const retry = await sendRaw(t, alice, shared, body);
    expect([retry.status, retry.body]).toEqual([200, sent]);
    const late = draft('sealed', sealedPayload({ recipients }));
    expect(await refusal(t, alice, shared, late)).toBe('body.payload.recipients');
    // Neither may a mention name her.
    const mention = textMessage('carol?', { mentions: [carol.id] });
    expect(await refusal(t, alice, shared, mention)).toBe('body.mentions');
  });
});
