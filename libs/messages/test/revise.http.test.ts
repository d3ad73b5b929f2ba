import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { Receipt, SendMessage } from '@relayger/protocol';
import {
  correction,
  draft,
  messageAt,
  receiptOf,
  refuseRevision,
  retraction,
  revise,
  seedFiles,
  sendFull,
  sentAgo,
} from './revising.js';
import { sealedPayload } from './sealed.js';
import {
  drain,
  group,
  mailbox,
  roomOf,
  send,
  seqs,
  tokenFor,
  upTo,
  wholeHistory,
} from './support.js';

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

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('a correction', () => {
  test('changes a text in place and is told by an event that replies to it', async () => {
    const { id: replyTo } = await send(t, bob, room, 'when?');
    const attention = { kind: 'response' as const };
    const sent = await sendFull(
      t,
      alice,
      room,
      textMessage('on Monda', { replyTo, mentions: [bob.id], attention }),
    );
    const receipt = await revise(t, alice, receiptOf(sent), correction('on Monday'));
    expect(Object.keys(receipt).sort()).toEqual(['id', 'room', 'seq']);
    expect(receipt).toMatchObject({ room, seq: String(Number(sent.sequence) + 1) });

    const now = await messageAt(t, bob, receiptOf(sent));
    // Everything else is as it was: id, sequence, sender, time, key, links and attention.
    expect(now).toEqual({
      ...sent,
      payload: { text: 'on Monday' },
      revision: { state: 'corrected', count: 1, at: expect.stringMatching(UTC) },
    });
    expect(Math.abs(Date.parse(now.revision?.at ?? '') - Date.now())).toBeLessThan(10_000);

    const [, second, event] = await wholeHistory(t, bob, room);
    expect(second).toEqual(now);
    expect(event).toEqual({
      schemaVersion: 1,
      messageId: receipt.id,
      conversationId: room,
      sequence: receipt.seq,
      sender: sent.sender,
      createdAt: expect.stringMatching(UTC),
      traceId: expect.any(String),
      type: 'revision',
      payload: {
        messageId: sent.messageId,
        sequence: sent.sequence,
        action: 'correct',
        payload: { text: 'on Monday' },
      },
      clientMessageId: expect.any(String),
      replyTo: sent.messageId,
      mentions: [],
    });
    expect(event?.traceId).not.toBe(event?.messageId);
  });

  test('replaces the whole payload of data, bytes and shapes as they were sent', async () => {
    const first = { schema: 'order.v1', data: { amount: 1 }, text: 'one' };
    const sent = await sendFull(t, alice, room, draft('data', first));
    const corrected = { schema: 'order.v2', data: { 2: [null, 1e-7], 1: { '': 'ä😀\u2028' } } };
    await revise(t, alice, receiptOf(sent), correction(corrected));
    const now = await messageAt(t, bob, receiptOf(sent));
    expect(now).toMatchObject({ type: 'data', revision: { state: 'corrected', count: 1 } });
    expect(now.payload).toEqual(corrected);
    expect((await wholeHistory(t, bob, room)).at(-1)?.payload).toMatchObject({
      payload: corrected,
    });
  });

  test('leaves the attachments of a text', async () => {
    const attachments = await seedFiles(t, room, alice, 8);
    const sent = await sendFull(t, alice, room, draft('text', { text: 'see these', attachments }));
    await revise(t, alice, receiptOf(sent), correction('see those'));
    const { payload } = await messageAt(t, bob, receiptOf(sent));
    expect(payload).toEqual({ text: 'see those', attachments });
    const event = (await wholeHistory(t, bob, room)).at(-1);
    expect(event?.payload).toMatchObject({ payload: { text: 'see those' } });
    const { rows } = await t.database.pool.query(
      'SELECT count(*)::int AS links FROM message_files WHERE message_id = $1',
      [sent.messageId],
    );
    expect(rows).toEqual([{ links: 8 }]);
  });

  test('is pending for the others beside the corrected message, and not for its sender', async () => {
    await Promise.all([drain(t, alice), drain(t, bob)]);
    const sent = await send(t, alice, room, 'first words');
    const event = await revise(t, alice, sent, correction('second words'));
    const { items } = await mailbox(t, bob);
    expect(items).toEqual([
      {
        id: sent.id,
        room,
        seq: sent.seq,
        from: alice.number,
        type: 'text',
        body: { text: 'second words' },
      },
      {
        id: event.id,
        room,
        seq: event.seq,
        from: alice.number,
        type: 'revision',
        body: {
          messageId: sent.id,
          sequence: sent.seq,
          action: 'correct',
          payload: { text: 'second words' },
        },
        reply: sent.id,
      },
    ]);
    expect((await mailbox(t, alice)).items).toEqual([]);
    expect(await roomOf(t, alice, room)).toMatchObject({
      sequence: event.seq,
      deliveredSequence: event.seq,
    });
  });

  test('wakes the room as a message does, through either process', async () => {
    const sent = await send(t, alice, room);
    await drain(t, bob);
    const replica = await t.replica();
    const waits = [mailbox(t, bob, { wait: 20 }), mailbox(replica, bob, { wait: 20 })];
    const event = await revise(t, alice, sent, retraction());
    for (const { items, ms } of await Promise.all(waits)) {
      expect(seqs(items)).toEqual([Number(event.seq)]);
      expect(ms).toBeLessThan(15_000);
    }
    await replica.close();
  });

  test('keeps what the message is found by up to date', async () => {
    const found = async (word: string) => {
      const { rows } = await t.database.pool.query(
        `SELECT seq FROM messages WHERE room_id = $1 AND search @@ plainto_tsquery('simple', $2)`,
        [room, word],
      );
      return rows.map(({ seq }: { seq: string }) => seq);
    };
    const sent = await send(t, alice, room, 'the zebrafinch sings');
    await revise(t, alice, sent, correction('the nightjar sings'));
    expect([await found('zebrafinch'), await found('nightjar')]).toEqual([[], [sent.seq]]);
  });

  test('may be made 10 times; afterwards the message can only be retracted', async () => {
    const sent = await send(t, alice, room, 'zero');
    for (const n of upTo(10)) {
      await revise(t, alice, sent, correction(`${n}`));
      expect((await messageAt(t, alice, sent)).revision).toMatchObject({ count: n });
    }
    const { sequence } = await roomOf(t, alice, room);
    expect(await refuseRevision(t, alice, sent, correction('11'))).toBe('revision_limit');
    expect(await messageAt(t, bob, sent)).toMatchObject({
      payload: { text: '10' },
      revision: { state: 'corrected', count: 10 },
    });
    expect((await roomOf(t, alice, room)).sequence).toBe(sequence);
    await revise(t, alice, sent, retraction());
    expect((await messageAt(t, bob, sent)).revision).toMatchObject({
      state: 'retracted',
      count: 10,
    });
  });

  test.each<[string, string | object, string | object]>([
    ['16000 bytes of text in 4-byte characters', 'a', '😀'.repeat(4000)],
    ['the same text again', 'a', 'a'],
    ['32 KiB of data', { schema: 'a', data: {} }, { schema: 'a', data: { k: 'a'.repeat(32_760) } }],
    [
      'a summary of 2000 bytes',
      { schema: 'a', data: {} },
      { schema: 'a', data: {}, text: '😀'.repeat(500) },
    ],
  ])('takes %s', async (_name, from, to) => {
    const [before, after] = [from, to].map((one) =>
      typeof one === 'string' ? { text: one } : one,
    );
    const type = typeof from === 'string' ? 'text' : 'data';
    const sent = await send(t, alice, room, draft(type, before));
    await revise(t, alice, sent, correction(to));
    expect((await messageAt(t, bob, sent)).payload).toEqual(after);
  });
});

describe('within 24 hours', () => {
  test.each([
    ['a correction', () => correction('later')],
    ['a retraction', () => retraction()],
  ])('%s is possible up to the last seconds and refused from then on', async (_name, body) => {
    const sent = await send(t, alice, room, 'now');
    await sentAgo(t, sent, '24 hours 1 second');
    expect(await refuseRevision(t, alice, sent, body())).toBe('revision_window_closed');
    expect(await messageAt(t, bob, sent)).toMatchObject({ payload: { text: 'now' } });
    expect(await messageAt(t, bob, sent)).not.toHaveProperty('revision');
    await sentAgo(t, sent, '23 hours 59 minutes');
    await revise(t, alice, sent, body());
  });
});

describe('final are', () => {
  const types: [string, () => Promise<SendMessage>][] = [
    ['sealed', async () => draft('sealed', sealedPayload({ recipients: [bob.id] }))],
    [
      'artifact',
      async () =>
        draft('artifact', { fileId: (await seedFiles(t, room, alice, 1))[0], caption: '' }),
    ],
    ['status', async () => draft('status', { state: 'idle' })],
  ];
  test.each(types)('messages of type %s', async (_type, message) => {
    const sent = await send(t, alice, room, await message());
    const before = await messageAt(t, alice, sent);
    for (const body of [correction('x'), correction({ schema: 'a', data: {} }), retraction()]) {
      expect(await refuseRevision(t, alice, sent, body)).toBe('message_final');
    }
    expect(await messageAt(t, alice, sent)).toEqual(before);
  });

  test.each(['task', 'result', 'approval_request', 'approval_decision', 'progress'])(
    'events of type %s',
    async (type) => {
      const id = randomUUID();
      const sent = await send(t, alice, room);
      await t.database.pool.query('UPDATE messages SET type = $2, payload = $3 WHERE id = $1', [
        sent.id,
        type,
        // A result has a text beside its id, and is no text for that.
        JSON.stringify({ taskId: id, summary: 's', text: 'done', approvalId: id }),
      ]);
      expect(await refuseRevision(t, alice, sent, correction('x'))).toBe('message_final');
      expect(await refuseRevision(t, alice, sent, retraction())).toBe('message_final');
      await t.database.pool.query(
        `UPDATE messages SET type = 'status', payload = '{"state":"idle"}' WHERE id = $1`,
        [sent.id],
      );
    },
  );

  test('revision events, and retracted messages', async () => {
    const sent = await send(t, alice, room, 'words');
    const event = await revise(t, alice, sent, correction('other words'));
    expect(await refuseRevision(t, alice, event, correction('x'))).toBe('message_final');
    expect(await refuseRevision(t, alice, event, retraction())).toBe('message_final');
    await revise(t, alice, sent, retraction());
    const before = await messageAt(t, alice, sent);
    expect(await refuseRevision(t, alice, sent, correction('x'))).toBe('message_final');
    expect(await refuseRevision(t, alice, sent, retraction())).toBe('message_final');
    // Also when the day is over: waiting would change nothing.
    await sentAgo(t, sent, '25 hours');
    expect(await refuseRevision(t, alice, sent, retraction())).toBe('message_final');
    expect({ ...(await messageAt(t, alice, sent)), createdAt: before.createdAt }).toEqual(before);
  });
});

describe('only its sender', () => {
  test('revises a message; for everybody else it is not there', async () => {
    const carol = await t.agent('carol');
    const shared = await group(t, alice, bob, carol);
    const elsewhere = await group(t, alice, bob);
    const [sent, ofBob, other] = [
      await send(t, alice, shared),
      await send(t, bob, shared),
      await send(t, alice, elsewhere),
    ];
    const stranger = await t.agent();
    const unreachable = await tokenFor(t, alice, { roomIds: [elsewhere] });
    const cases: [TestAgent, Pick<Receipt, 'room' | 'id'>][] = [
      [bob, sent],
      [carol, sent],
      [stranger, sent],
      [unreachable, sent],
      // The room's owner is no exception.
      [alice, ofBob],
      [alice, { room: shared, id: other.id }],
      [alice, { room: shared, id: randomUUID() }],
      [alice, { room: randomUUID(), id: sent.id }],
    ];
    for (const [who, where] of cases) {
      for (const body of [correction('mine now'), retraction()])
        expect(await refuseRevision(t, who, where, body, 404)).toBe('not_found');
    }
    const removed = { token: alice.token, params: { room: shared, identity: bob.id } };
    await t.api.call('removeMember', { ...removed, expect: 200 });
    expect(await refuseRevision(t, bob, ofBob, retraction(), 404)).toBe('not_found');
    for (const one of [sent, ofBob])
      expect(await messageAt(t, alice, one)).not.toHaveProperty('revision');

    const limited = await tokenFor(t, alice, { roomIds: [shared] });
    await revise(t, limited, sent, correction('mine'));
    const reader = await tokenFor(t, alice, { scopes: ['read'] });
    expect(await refuseRevision(t, reader, sent, retraction(), 403)).toBe('insufficient_scope');
  });

  test('revises it where it may still send', async () => {
    const dave = await t.agent('dave');
    await t.befriend(alice, dave);
    const body = { target: dave.number, message: textMessage('hello') };
    const direct = await t.api.call('sendDirect', { token: alice.token, body, expect: 201 });
    const sent = direct.body as Receipt;
    const act = async (
      operation: 'removeContact' | 'blockContact',
      who: TestAgent,
      peer: TestAgent,
    ) => {
      const params = { address: peer.number };
      await t.api.call(operation, { token: who.token, params, body: {}, expect: 200 });
    };
    await act('removeContact', dave, alice);
    expect(await refuseRevision(t, alice, sent, correction('x'), 403)).toBe('contact_required');
    await act('blockContact', dave, alice);
    expect(await refuseRevision(t, alice, sent, retraction(), 403)).toBe('contact_unavailable');
    const { rows } = await t.database.pool.query(
      'SELECT payload, revision FROM messages WHERE room_id = $1',
      [sent.room],
    );
    expect(rows).toEqual([{ payload: { text: 'hello' }, revision: null }]);
  });
});
