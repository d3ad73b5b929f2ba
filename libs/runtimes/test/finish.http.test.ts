import { randomUUID } from 'node:crypto';
import { startTestApi, type TestApi } from '@relayger/api/testing';
import {
  ask,
  asked,
  claim,
  endLeases,
  endPauses,
  finish,
  group,
  leaseOf,
  pair,
  question,
  refusedFinish,
  register,
  say,
  states,
  take,
  upTo,
} from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

const usage = { modelCalls: 2, inputTokens: 100, outputTokens: 10 };

const notesOf = async ({ token }: { token: string }, id: string, room: string) =>
  (await t.api.call('listRuntimeNotes', { token, params: { id }, query: { room }, expect: 200 }))
    .body;
const historyOf = async ({ token }: { token: string }, room: string) =>
  (await t.api.call('listMessages', { token, params: { room }, expect: 200 })).body;
const statsOf = async ({ token }: { token: string }, id: string) =>
  (await t.api.call('getRuntimeStats', { token, params: { id }, expect: 200 })).body;

test('reply, note and outcome are stored together, and the asker finds the reply', async () => {
  const { asker, worker, id, question: sent } = await asked(t);
  const job = await take(t, worker, id);
  const note = { key: 'decision', text: 'yes', version: 0, sourceMessageIds: [sent.id] };
  const answer = await finish(t, worker, id, job, { reply: 'Yes.', note, usage });
  expect(answer).toEqual({
    ok: true,
    reply: { id: expect.any(String), room: sent.room, seq: '2' },
  });
  const mailbox = await t.api.call('readMailbox', { token: asker.token, expect: 200 });
  expect(mailbox.body).toEqual([
    {
      id: answer.reply?.id,
      room: sent.room,
      seq: '2',
      from: worker.number,
      type: 'text',
      body: { text: 'Yes.' },
      reply: sent.id,
      attention: { kind: 'response' },
    },
  ]);
  expect(await notesOf(worker, id, sent.room)).toMatchObject([
    { ...note, version: 1, room: sent.room },
  ]);
  const log = await t.api.call('getRuntimeLog', {
    token: worker.token,
    params: { id },
    expect: 200,
  });
  expect(log.body).toEqual([
    {
      deliveryId: job.id,
      messageId: sent.id,
      room: sent.room,
      seq: '1',
      state: 'handled',
      attempts: 1,
      reply: answer.reply,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    },
  ]);
});

test('a reply wakes whoever waits for it', async () => {
  const { asker, worker, id } = await asked(t);
  const job = await take(t, worker, id);
  const waiting = t.api.call('readMailbox', {
    token: asker.token,
    query: { wait: 30 },
    expect: 200,
  });
  const { reply } = await finish(t, worker, id, job, { reply: 'here' });
  expect((await waiting).body).toMatchObject([{ id: reply?.id }]);
});

test.each([
  ['sources of another room', { version: 0 }, 'body.note.sourceMessageIds', 400],
  ['a version that is not there', { version: 3, sourceMessageIds: [] }, 'version_conflict', 409],
])('a note with %s rolls everything back', async (_name, change, code, expected) => {
  const { asker, worker, id, question: sent } = await asked(t);
  const other = await say(t, asker, await group(t, asker, worker), question('elsewhere'));
  const job = await take(t, worker, id);
  const note = { key: 'k', text: 't', sourceMessageIds: [sent.id, other.id], ...change };
  const refused = await refusedFinish(t, worker, id, job, {
    expect: expected,
    reply: 'lost',
    note,
    usage,
  });
  expect(refused).toBe(code);
  expect(await historyOf(asker, sent.room)).toHaveLength(1);
  expect(await notesOf(worker, id, sent.room)).toEqual([]);
  expect(await states(t, worker, id)).toEqual(['leased']);
  expect(await statsOf(worker, id)).toMatchObject({
    claims: 1,
    reportedModelCalls: 0,
    unfinished: 1,
  });
  // The lease is as good as before.
  const good = { ...note, version: 0, sourceMessageIds: [sent.id] };
  const { reply } = await finish(t, worker, id, job, { reply: 'kept', note: good });
  expect(reply?.seq).toBe('2');
});

test('the same report again is answered as the first, also after the lease, and stores nothing', async () => {
  const { worker, id, question: sent } = await asked(t);
  const job = await take(t, worker, id);
  const note = { key: 'k', text: 't', version: 0, sourceMessageIds: [] };
  const report = { reply: 'Once.', note, usage };
  const first = await finish(t, worker, id, job, report);
  await t.database.pool.query(
    `UPDATE runtime_deliveries SET due_at = now() - interval '1 hour' WHERE id = $1`,
    [job.id],
  );
  expect(await finish(t, worker, id, job, report)).toEqual(first);
  // The order of fields is no part of it.
  const { token } = worker;
  const reordered = `{"usage":{"outputTokens":10,"inputTokens":100,"modelCalls":2},"reply":"Once.","outcome":"handled","version":"1","note":{"version":0,"sourceMessageIds":[],"text":"t","key":"k"},"owner":"${job.owner}","deliveryId":"${job.id}"}`;
  const again = await t.api.raw('POST', `/v1/runtimes/${id}/finish`, {
    token,
    rawBody: reordered,
    expect: 200,
  });
  expect(again.body).toEqual(first);
  for (const other of [
    { reply: 'Twice.' },
    { reply: undefined },
    { note: undefined },
    { note: { ...note, version: 1 } },
    { usage: undefined },
    { usage: { ...usage, modelCalls: 3 } },
    { outcome: 'failed', reply: undefined, note: undefined },
    { outcome: 'skipped', reply: undefined, note: undefined },
  ]) {
    const refused = await refusedFinish(t, worker, id, job, { expect: 409, ...report, ...other });
    expect(refused).toBe('idempotency_conflict');
  }
  expect(
    await refusedFinish(t, worker, id, { ...job, owner: id }, { expect: 409, ...report }),
  ).toBe('lease_lost');
  expect(await historyOf(worker, sent.room)).toHaveLength(2);
  expect(await statsOf(worker, id)).toMatchObject({ claims: 1, reportedModelCalls: 2 });
});

test.each(['handled', 'skipped', 'failed'] as const)(
  '%s without anything else is repeated too',
  async (outcome) => {
    const { worker, id } = await asked(t);
    const job = await take(t, worker, id);
    expect(await finish(t, worker, id, job, { outcome })).toEqual({ ok: true });
    expect(await finish(t, worker, id, job, { outcome })).toEqual({ ok: true });
    const other = outcome === 'failed' ? 'skipped' : 'failed';
    expect(await refusedFinish(t, worker, id, job, { expect: 409, outcome: other })).toBe(
      'idempotency_conflict',
    );
    const state = { handled: 'handled', skipped: 'skipped', failed: 'pending' }[outcome];
    expect(await states(t, worker, id)).toEqual([state]);
  },
);

test('what was reported as failed is still answered the same when another worker has the job', async () => {
  const { worker, id } = await asked(t);
  const first = await take(t, worker, id);
  await finish(t, worker, id, first, { outcome: 'failed', usage });
  await endPauses(t, id);
  const second = await take(t, worker, id);
  expect(second).toMatchObject({ id: first.id, version: '2' });
  expect(await finish(t, worker, id, first, { outcome: 'failed', usage })).toEqual({ ok: true });
  expect(await refusedFinish(t, worker, id, first, { expect: 409 })).toBe('idempotency_conflict');
  await finish(t, worker, id, second, { reply: 'done' });
  expect(await statsOf(worker, id)).toMatchObject({
    claims: 2,
    reportedModelCalls: 2,
    unreported: 1,
  });
});

test.each([
  ['without a reply', {}],
  ['with one', { reply: 'one' }],
])('parallel reports %s are one', async (_name, report) => {
  const { worker, id, question: sent } = await asked(t);
  const replica = await t.replica();
  const doors = [t, { api: replica.api }];
  const job = await take(t, worker, id);
  const answers = await Promise.all(
    upTo(12).map((n) => finish(doors[n % 2] as TestApi, worker, id, job, report)),
  );
  await replica.close();
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(await historyOf(worker, sent.room)).toHaveLength('reply' in report ? 2 : 1);
});

test('of parallel reports with two contents one wins', async () => {
  const { worker, id, question: sent } = await asked(t);
  const job = await take(t, worker, id);
  const replies = await Promise.all(
    upTo(10).map((n) =>
      t.api.raw('POST', `/v1/runtimes/${id}/finish`, {
        token: worker.token,
        body: { ...leaseOf(job), outcome: 'handled', reply: `${n % 2}` },
      }),
    ),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([
    ...Array(5).fill(200),
    ...Array(5).fill(409),
  ]);
  expect(await historyOf(worker, sent.room)).toHaveLength(2);
});

test('reports and heartbeats race with the claim that follows a lease: exactly one of them has the job', async () => {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker, { policy: { maxAttempts: 5, maxCallsPerHour: 1000 } });
  for (const n of upTo(15)) {
    await ask(t, asker, worker, `question ${n}`);
    const job = await take(t, worker, id);
    const soon = t.database.pool.query(
      `UPDATE runtime_deliveries SET due_at = clock_timestamp() + interval '4 milliseconds' WHERE id = $1`,
      [job.id],
    );
    const report = t.api.raw('POST', `/v1/runtimes/${id}/finish`, {
      token: worker.token,
      body: { ...leaseOf(job), outcome: 'handled', ...(n % 3 === 0 && { reply: 'mine' }) },
    });
    await soon;
    const [{ status }, next] = await Promise.all([report, claim(t, worker, id)]);
    if (status === 200) expect(next).toBeNull();
    else expect(status).toBe(409);
    await endLeases(t, id);
    const rest = status === 200 ? null : await claim(t, worker, id);
    if (rest) await finish(t, worker, id, rest);
  }
  expect(new Set(await states(t, worker, id))).toEqual(new Set(['handled']));
});

test.each<[string, Record<string, unknown>, string]>([
  ['an empty reply', { reply: '' }, 'body.reply'],
  [
    'a reply that takes more than 63,000 bytes as JSON',
    { reply: '\u0001'.repeat(10_600) },
    'body.reply',
  ],
  ['a reply of 16001 bytes', { reply: 'x'.repeat(16_001) }, 'body.reply'],
  ['a reply to what failed', { outcome: 'failed', reply: 'no' }, 'body.outcome'],
  ['a reply to what is skipped', { outcome: 'skipped', reply: 'no' }, 'body.outcome'],
  [
    'a note on what failed',
    { outcome: 'failed', note: { key: 'k', text: 't', version: 0, sourceMessageIds: [] } },
    'body.outcome',
  ],
  ['an unknown outcome', { outcome: 'done' }, 'body.outcome'],
  ['usage in part', { usage: { modelCalls: 1 } }, 'body.usage.inputTokens'],
  ['negative usage', { usage: { ...usage, modelCalls: -1 } }, 'body.usage.modelCalls'],
  ['unknown usage fields', { usage: { ...usage, cost: 1 } }, 'body.usage'],
  ['unknown fields', { extra: 1 }, 'body'],
  [
    'a note with a room',
    { note: { room: randomUUID(), key: 'k', text: 't', version: 0, sourceMessageIds: [] } },
    'body.note',
  ],
])('%s is refused', async (_name, report, path) => {
  const { worker, id } = await asked(t);
  const job = await take(t, worker, id);
  expect(await refusedFinish(t, worker, id, job, { expect: 400, ...report })).toMatch(path);
  await finish(t, worker, id, job);
});

test('stats say what was reported, and tell unknown from zero', async () => {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker, { policy: { concurrency: 8 } });
  const nothing = {
    claims: 0,
    reportedModelCalls: 0,
    reportedInputTokens: 0,
    reportedOutputTokens: 0,
  };
  expect(await statsOf(worker, id)).toEqual({ ...nothing, unreported: 0, unfinished: 0 });
  for (const n of upTo(5)) await ask(t, asker, worker, `question ${n}`);
  const jobs = [];
  for (const _ of upTo(5)) jobs.push(await take(t, worker, id));
  const zero = { modelCalls: 0, inputTokens: 0, outputTokens: 0 };
  const reports = [{ usage }, { usage: zero }, {}, { outcome: 'failed' as const, usage }];
  for (const [n, report] of reports.entries())
    await finish(t, worker, id, jobs[n] as (typeof jobs)[number], report);
  // The fifth is abandoned and taken again.
  await endLeases(t, id);
  await take(t, worker, id);
  expect(await statsOf(worker, id)).toEqual({
    claims: 6,
    reportedModelCalls: 4,
    reportedInputTokens: 200,
    reportedOutputTokens: 20,
    unreported: 1,
    unfinished: 2,
  });
});

test('the log has the newest hundred at most', async () => {
  const { asker, worker, id } = await asked(t);
  const { token } = worker;
  for (const n of upTo(2)) await ask(t, asker, worker, `question ${n}`);
  await finish(t, worker, id, await take(t, worker, id));
  const logOf = async (query: object) =>
    (await t.api.call('getRuntimeLog', { token, params: { id }, query, expect: 200 })).body;
  expect((await logOf({})).map(({ seq }) => seq)).toEqual(['3', '2', '1']);
  expect((await logOf({ limit: 1 })).map(({ seq, state }) => [seq, state])).toEqual([
    ['3', 'pending'],
  ]);
  await t.database.pool.query(
    `INSERT INTO runtime_deliveries (id, runtime_id, room_id, seq, message_id, state)
     SELECT gen_random_uuid(), $1, room_id, seq, gen_random_uuid(), 'skipped'
     FROM runtime_deliveries, generate_series(1, 40) WHERE runtime_id = $1`,
    [id],
  );
  expect(await logOf({})).toHaveLength(50);
  expect(await logOf({ limit: 100 })).toHaveLength(100);
  for (const limit of [0, 101, 'x'])
    await t.api.call('getRuntimeLog', {
      token,
      params: { id },
      query: { limit: `${limit}` },
      expect: 400,
    });
});
