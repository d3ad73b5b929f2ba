import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { RuntimePolicyInput, SendMessage } from '@relayger/protocol';
import { sealedPayload } from '../../messages/test/sealed.js';
import {
  ask,
  claim,
  crowd,
  finish,
  group,
  pair,
  question,
  register,
  say,
  states,
} from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

/** Takes and finishes all jobs; the ids of their messages in order. */
async function drain(worker: TestAgent, id: string): Promise<string[]> {
  const ids = [];
  for (;;) {
    const job = await claim(t, worker, id);
    if (!job) return ids;
    ids.push(job.messageId);
    await finish(t, worker, id, job);
  }
}

const data = { schema: 'job.v1', data: { n: 1 } };
const ago = new Date(Date.now() - 60_000).toISOString();
const ahead = new Date(Date.now() + 3_600_000).toISOString();

/** What a runtime with one trigger takes: `dm` without a mention, `group` without one, `mention` in a group. */
const MATRIX: [
  what: string,
  message: Record<string, unknown>,
  taken: Record<'dm' | 'group' | 'mention', string>,
][] = [
  ['plain text', {}, { dm: 'direct', group: '', mention: 'mentions' }],
  [
    'a question',
    { attention: { kind: 'question' } },
    { dm: 'questions direct', group: '', mention: 'questions mentions' },
  ],
  [
    'a question with time left',
    { attention: { kind: 'question', expiresAt: ahead } },
    { dm: 'questions direct', group: '', mention: 'questions mentions' },
  ],
  [
    'an expired question',
    { attention: { kind: 'question', expiresAt: ago } },
    { dm: '', group: '', mention: '' },
  ],
  [
    'a question of the year 0',
    { attention: { kind: 'question', expiresAt: '0000-01-01T00:00:00Z' } },
    { dm: '', group: '', mention: '' },
  ],
  ['information', { attention: { kind: 'information' } }, { dm: '', group: '', mention: '' }],
  ['a response', { attention: { kind: 'response' } }, { dm: '', group: '', mention: '' }],
  ['plain data', { type: 'data', payload: data }, { dm: '', group: '', mention: '' }],
  [
    'a data question',
    { type: 'data', payload: data, attention: { kind: 'question' } },
    { dm: 'questions direct', group: '', mention: 'questions mentions' },
  ],
  ['a sealed message', { type: 'sealed' }, { dm: '', group: '', mention: '' }],
  [
    'a sealed question',
    { type: 'sealed', attention: { kind: 'question' } },
    { dm: 'questions direct', group: '', mention: 'questions mentions' },
  ],
  [
    'a sealed response',
    { type: 'sealed', attention: { kind: 'response' } },
    { dm: '', group: '', mention: '' },
  ],
  ['a status', { type: 'status', payload: { state: 'idle' } }, { dm: '', group: '', mention: '' }],
];

test('every kind of message is work exactly for the triggers that it is meant for, and own ones never', async () => {
  const { asker, worker } = await pair(t);
  const dm = (
    await ask(t, asker, worker, textMessage('hello', { attention: { kind: 'information' } }))
  ).room;
  const room = await group(t, asker, worker);
  const triggers = ['questions', 'direct', 'mentions'] as const;
  const calls = { concurrency: 8, maxCallsPerHour: 1000 };
  const runtimes = new Map<string, string>();
  for (const trigger of triggers) {
    const policy = { triggers: [trigger], ...calls };
    runtimes.set(trigger, (await register(t, worker, { name: trigger, policy })).id);
  }
  const every = await register(t, worker, {
    name: 'every',
    policy: { triggers: [...triggers], ...calls },
  });

  const sent = new Map<string, { what: string; taken: string }>();
  for (const [what, more, taken] of MATRIX) {
    const payload = more.type === 'sealed' ? sealedPayload({ recipients: [worker.id] }) : undefined;
    for (const where of ['dm', 'group', 'mention'] as const) {
      const message = textMessage(what, {
        ...more,
        ...(payload && { payload }),
        ...(where === 'mention' && { mentions: [worker.id] }),
      } as Partial<SendMessage>);
      const { id } = await say(t, asker, where === 'dm' ? dm : room, message);
      sent.set(id, { what: `${what} (${where})`, taken: taken[where] });
    }
  }
  await say(t, worker, dm, question('my own'));
  await say(t, worker, dm, textMessage('my own'));
  await say(t, worker, room, question('my own', { mentions: [worker.id] }));

  const names = (ids: string[]) => ids.map((id) => sent.get(id)?.what ?? 'an own one').sort();
  const expected = (match: (taken: string) => boolean) =>
    [...sent.values()]
      .filter(({ taken }) => match(taken))
      .map(({ what }) => what)
      .sort();
  for (const trigger of triggers) {
    const taken = await drain(worker, runtimes.get(trigger) as string);
    expect(names(taken)).toEqual(expected((list) => list.split(' ').includes(trigger)));
  }
  expect(names(await drain(worker, every.id))).toEqual(expected((list) => list !== ''));
});

test('a mention counts in a direct conversation too', async () => {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker, { policy: { triggers: ['mentions'] } });
  await ask(t, asker, worker, textMessage('you there'));
  const { id: meant } = await ask(t, asker, worker, textMessage('you', { mentions: [worker.id] }));
  expect(await drain(worker, id)).toEqual([meant]);
});

test('events that the server makes are no work', async () => {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker, { policy: { triggers: ['direct'] } });
  const { room } = await ask(
    t,
    asker,
    worker,
    textMessage('info', { attention: { kind: 'information' } }),
  );
  await t.database.pool.query(
    `INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, trace_id)
     SELECT $1, 1 + n, gen_random_uuid(), $2, gen_random_uuid(), '\\x00', type, '{}', gen_random_uuid()
     FROM unnest(ARRAY['task', 'result', 'approval_request', 'approval_decision', 'revision', 'progress', 'artifact'])
       WITH ORDINALITY AS e(type, n)`,
    [room, asker.id],
  );
  await t.database.pool.query('UPDATE rooms SET last_seq = 8 WHERE id = $1', [room]);
  expect(await drain(worker, id)).toEqual([]);
});

test('retracted messages are no work, neither before nor after they were found', async () => {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker, { policy: { triggers: ['direct'] } });
  const early = await ask(t, asker, worker);
  await t.api.call('reviseMessage', {
    token: asker.token,
    params: { room: early.room, id: early.id },
    body: { action: 'retract', clientMessageId: early.id },
    expect: 201,
  });
  const kept = await ask(t, asker, worker);
  const late = await ask(t, asker, worker);
  const first = await claim(t, worker, id);
  expect(first?.messageId).toBe(kept.id);
  await t.api.call('reviseMessage', {
    token: asker.token,
    params: { room: late.room, id: late.id },
    body: { action: 'retract', clientMessageId: late.id },
    expect: 201,
  });
  if (first) await finish(t, worker, id, first);
  expect(await drain(worker, id)).toEqual([]);
  expect(await states(t, worker, id)).toEqual(['handled', 'skipped']);
});

test('a question that waits past its deadline is skipped', async () => {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker);
  await ask(t, asker, worker);
  await ask(
    t,
    asker,
    worker,
    question('soon', { attention: { kind: 'question', expiresAt: ahead } }),
  );
  const first = await claim(t, worker, id);
  await t.database.pool.query(
    `UPDATE runtime_deliveries SET expires_at = now() - interval '1 second' WHERE expires_at IS NOT NULL`,
  );
  expect(await states(t, worker, id)).toEqual(['leased', 'skipped']);
  if (first) await finish(t, worker, id, first);
  expect(await claim(t, worker, id)).toBeNull();
  expect(await states(t, worker, id)).toEqual(['handled', 'skipped']);
  // The next look at the rooms puts it away.
  await ask(t, asker, worker, textMessage('information'));
  expect(await claim(t, worker, id)).toBeNull();
  const { rows } = await t.database.pool.query<{ state: string }>(
    'SELECT state FROM runtime_deliveries WHERE runtime_id = $1 ORDER BY position',
    [id],
  );
  expect(rows.map(({ state }) => state)).toEqual(['handled', 'skipped']);
});

test('allowlists of senders and rooms narrow what is work', async () => {
  const [asker, other, worker] = (await crowd(t, 3)) as [TestAgent, TestAgent, TestAgent];
  const rooms = [await group(t, asker, worker, other), await group(t, asker, worker, other)];
  const sent = new Map<string, string>();
  for (const [r, room] of rooms.entries())
    for (const [s, sender] of [asker, other].entries()) {
      const { id } = await say(t, sender, room, question('?', { mentions: [worker.id] }));
      sent.set(id, `${s}${r}`);
    }
  const cases: [RuntimePolicyInput, string[]][] = [
    [{}, ['00', '01', '10', '11']],
    [{ allowedSenders: [asker.id] }, ['00', '01']],
    [{ allowedRooms: [rooms[1] as string] }, ['01', '11']],
    [{ allowedSenders: [other.id], allowedRooms: [rooms[0] as string] }, ['10']],
    [{ allowedSenders: [worker.id] }, []],
    // A list grants nothing: this is no room of the worker.
    [{ allowedRooms: ['0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01'] }, []],
  ];
  for (const [n, [policy, expected]] of cases.entries()) {
    const { id } = await register(t, worker, { name: `w${n}`, policy });
    expect((await drain(worker, id)).map((one) => sent.get(one)).sort()).toEqual(expected);
  }
});

test('different names each get a message, and the mailbox of the agent stays as it is', async () => {
  const { asker, worker } = await pair(t);
  const one = await register(t, worker, { name: 'one' });
  const two = await register(t, worker, { name: 'two' });
  const { id, room } = await ask(t, asker, worker);
  const { token } = worker;
  const consumed = await t.api.call('readMailbox', { token, query: { consume: '1' }, expect: 200 });
  expect(consumed.body).toMatchObject([{ id }]);
  expect(await drain(worker, one.id)).toEqual([id]);
  expect(await drain(worker, two.id)).toEqual([id]);
  const next = await ask(t, asker, worker);
  expect(await drain(worker, one.id)).toEqual([next.id]);
  const { body } = await t.api.call('readMailbox', { token, expect: 200 });
  expect(body).toMatchObject([{ id: next.id, room }]);
});

test('two workers that answer each other do not set each other off', async () => {
  const { asker, worker } = await pair(t);
  const policy = { triggers: ['questions', 'direct', 'mentions'] as const };
  const [mine, theirs] = [
    await register(t, asker, { policy: { triggers: [...policy.triggers] } }),
    await register(t, worker, { policy: { triggers: [...policy.triggers] } }),
  ];
  const { id, room } = await ask(t, asker, worker);
  const job = await claim(t, worker, theirs.id);
  if (!job) throw new Error('there is no job');
  const { reply } = await finish(t, worker, theirs.id, job, { reply: 'an answer' });
  expect(await claim(t, asker, mine.id)).toBeNull();
  expect(await claim(t, worker, theirs.id)).toBeNull();
  const params = { room, id: reply?.id as string };
  const { body } = await t.api.call('getMessage', { token: asker.token, params, expect: 200 });
  expect(body).toMatchObject({
    type: 'text',
    payload: { text: 'an answer' },
    sender: { id: worker.id },
    replyTo: id,
    attention: { kind: 'response' },
    sequence: reply?.seq,
  });
});
