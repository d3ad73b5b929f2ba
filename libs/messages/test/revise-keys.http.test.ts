import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { Message, SendMessage } from '@relayger/protocol';
import {
  correction,
  draft,
  messageAt,
  receiptOf,
  refuseRevision,
  retraction,
  revise,
  reviseRaw,
  sendFull,
  sentAgo,
} from './revising.js';
import { drain, group, roomOf, send, sendRaw } from './support.js';

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

describe('one key', () => {
  test('is one revision, whatever happens in between', async () => {
    const sent = await send(t, alice, room);
    const body = correction('first');
    const event = await revise(t, alice, sent, body);
    const again = async () => {
      const options = { token: alice.token, params: sent, body, expect: 200 as const };
      const { body: receipt } = await t.api.call('reviseMessage', {
        ...options,
        params: { room, id: sent.id },
      });
      expect(receipt).toEqual(event);
    };
    await again();
    await revise(t, alice, sent, correction('second'));
    await again();
    const gone = retraction();
    const last = await revise(t, alice, sent, gone);
    await again();
    await sentAgo(t, sent, '30 hours');
    await again();
    const options = { token: alice.token, params: { room, id: sent.id }, body: gone };
    expect((await t.api.call('reviseMessage', { ...options, expect: 200 })).body).toEqual(last);
    const { payload, revision } = await messageAt(t, bob, sent);
    expect([payload, revision?.count]).toEqual([{ text: '[retracted]' }, 2]);
    expect((await roomOf(t, alice, room)).sequence).toBe(last.seq);
  });

  const raw = (key: string, payload: string) =>
    `{"action":"correct","clientMessageId":"${key}","payload":${payload}}`;
  const payload = '{"schema":"a.v1","data":{"a":1,"b":2}}';

  test.each([
    ['other data', '{"schema":"a.v1","data":{"a":1,"b":3}}'],
    ['reordered keys', '{"schema":"a.v1","data":{"b":2,"a":1}}'],
    ['a space inside', '{"schema":"a.v1", "data":{"a":1,"b":2}}'],
    ['another spelling of a number', '{"schema":"a.v1","data":{"a":1.0,"b":2}}'],
    ['a key twice', '{"schema":"a.v1","data":{"a":1,"a":1,"b":2}}'],
  ])('with %s is a conflict and changes nothing', async (_name, other) => {
    const sent = await send(t, alice, room, draft('data', { schema: 'a', data: {} }));
    const key = randomUUID();
    const first = await reviseRaw(t, alice, sent, raw(key, payload));
    expect(first.status).toBe(201);
    const conflict = await reviseRaw(t, alice, sent, raw(key, other));
    expect([conflict.status, conflict.body]).toMatchObject([
      409,
      { error: { code: 'idempotency_conflict' } },
    ]);
    const spaced = ` { "payload" : ${payload} ,\n"clientMessageId":"${key}", "action":"c\\u006frrect" }`;
    const again = await reviseRaw(t, alice, sent, spaced);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect((await messageAt(t, bob, sent)).revision).toMatchObject({ count: 1 });
  });

  test('with another action, another message or a message is a conflict', async () => {
    const message = textMessage('one');
    const [sent, other] = [await send(t, alice, room, message), await send(t, alice, room, 'one')];
    const key = randomUUID();
    await revise(t, alice, sent, correction('two', key));
    const conflicts = [
      refuseRevision(t, alice, sent, retraction(key)),
      refuseRevision(t, alice, other, correction('two', key)),
      refuseRevision(t, alice, sent, correction('three', message.clientMessageId)),
      refuseRevision(t, alice, sent, retraction(message.clientMessageId)),
    ];
    expect(new Set(await Promise.all(conflicts))).toEqual(new Set(['idempotency_conflict']));
    const reuse = await sendRaw(t, alice, room, textMessage('two', { clientMessageId: key }));
    expect(reuse.body).toMatchObject({ error: { code: 'idempotency_conflict' } });
    expect(await messageAt(t, bob, other)).not.toHaveProperty('revision');
    // Keys of other senders and rooms are others.
    await revise(t, bob, await send(t, bob, room), correction('two', key));
    const elsewhere = await group(t, alice);
    await revise(t, alice, await send(t, alice, elsewhere), retraction(key));
  });

  test('of the original send gives the message as it is now', async () => {
    const message = textMessage('first');
    const sent = await sendFull(t, alice, room, message);
    const options = { token: alice.token, params: { room }, body: message, expect: 200 as const };
    const repeat = async () => (await t.api.call('sendMessage', options)).body as Message;
    await revise(t, alice, receiptOf(sent), correction('second'));
    expect(await repeat()).toMatchObject({
      ...sent,
      payload: { text: 'second' },
      revision: { state: 'corrected', count: 1 },
    });
    await revise(t, alice, receiptOf(sent), retraction());
    expect(await repeat()).toMatchObject({
      messageId: sent.messageId,
      payload: { text: '[retracted]' },
      revision: { state: 'retracted', count: 1 },
    });
    expect((await sendRaw(t, alice, room, message)).body).toEqual(receiptOf(sent));
    const changed = { ...message, payload: { text: 'second' } } as SendMessage;
    expect((await sendRaw(t, alice, room, changed)).status).toBe(409);
  });
});

describe('refuses', () => {
  const key = randomUUID();
  const correct = (payload: unknown, more: object = {}) => ({
    action: 'correct',
    clientMessageId: key,
    payload,
    ...more,
  });
  const data = { schema: 'a', data: {} };
  const shapes: [string, 'text' | 'data', unknown, string][] = [
    ['no action', 'text', { clientMessageId: key }, 'body.action'],
    ['an unknown action', 'text', { action: 'delete', clientMessageId: key }, 'body.action'],
    ['no key', 'text', { action: 'retract' }, 'body.clientMessageId'],
    [
      'a key in capitals',
      'text',
      { action: 'retract', clientMessageId: key.toUpperCase() },
      'body.clientMessageId',
    ],
    [
      'a retraction with a payload',
      'text',
      { action: 'retract', clientMessageId: key, payload: { text: 'a' } },
      'body',
    ],
    [
      'an unknown field',
      'text',
      correct({ text: 'a' }, { attention: { kind: 'question' } }),
      'body',
    ],
    ['no payload', 'text', correct(undefined), 'body.payload'],
    ['a payload that is a text', 'text', correct('a'), 'body.payload'],
    ['an empty text', 'text', correct({ text: '' }), 'body.payload.text'],
    [
      'a text of 16001 bytes in 4001 characters',
      'text',
      correct({ text: `${'😀'.repeat(4000)}a` }),
      'body.payload.text',
    ],
    ['a text with NUL', 'text', correct({ text: 'a\u0000' }), 'body.payload.text'],
    ['attachments', 'text', correct({ text: 'a', attachments: [key] }), 'body.payload'],
    ['data for a text', 'text', correct(data), 'body.payload'],
    [
      'a whole data payload with a text for a text',
      'text',
      correct({ ...data, text: 'a' }),
      'body.payload',
    ],
    ['a text for data', 'data', correct({ text: 'a' }), 'body.payload'],
    ['data without its schema', 'data', correct({ data: {} }), 'body.payload'],
    ['a list as data', 'data', correct({ schema: 'a', data: [] }), 'body.payload.data'],
    [
      'data of 32 KiB and a byte',
      'data',
      correct({ schema: 'a', data: { k: 'a'.repeat(32_761) } }),
      'body.payload.data',
    ],
    [
      'a summary of 2001 bytes',
      'data',
      correct({ ...data, text: `${'😀'.repeat(500)}a` }),
      'body.payload',
    ],
  ];
  test.each(shapes)('%s (%s)', async (_name, type, body, path) => {
    const sent = await send(t, alice, room, draft(type, type === 'text' ? { text: 'a' } : data));
    expect(await refuseRevision(t, alice, sent, body, 400)).toBe(path);
    expect(await messageAt(t, alice, sent)).not.toHaveProperty('revision');
    expect((await roomOf(t, alice, room)).sequence).toBe(sent.seq);
  });

  test('ids that are none, and ids in capitals', async () => {
    const sent = await send(t, alice, room);
    for (const id of ['1', sent.id.toUpperCase()])
      expect(await refuseRevision(t, alice, { room, id }, retraction(), 400)).toBe('params.id');
    const shouted = { room: room.toUpperCase(), id: sent.id };
    expect(await refuseRevision(t, alice, shouted, retraction(), 400)).toBe('params.room');
  });
});
