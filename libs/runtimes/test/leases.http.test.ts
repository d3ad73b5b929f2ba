import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import {
  ask,
  asked,
  claim,
  crowd,
  endLeases,
  endPauses,
  finish,
  group,
  leaseOf,
  pair,
  question,
  refusedFinish,
  refusedHeartbeat,
  register,
  say,
  states,
  take,
  tokenFor,
  upTo,
} from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

const heartbeat = async (who: TestAgent, id: string, job: Parameters<typeof leaseOf>[0]) =>
  (
    await t.api.call('heartbeatRuntimeJob', {
      token: who.token,
      params: { id },
      body: leaseOf(job),
      expect: 200,
    })
  ).body;

const databaseTime = async () =>
  (await t.database.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now')).rows[0]
    ?.now as Date;

test('a claim answers the message, a lease of 30 seconds and the key of the job', async () => {
  const { worker, asker, id, question: sent } = await asked(t);
  const before = await databaseTime();
  const job = await take(t, worker, id);
  const after = await databaseTime();
  expect(job).toMatchObject({
    messageId: sent.id,
    version: '1',
    attempts: 1,
    jobKey: `${id}:${sent.id}`,
  });
  const params = { room: sent.room, id: sent.id };
  const { body: stored } = await t.api.call('getMessage', {
    token: asker.token,
    params,
    expect: 200,
  });
  expect(job.message).toEqual(stored);
  const until = Date.parse(job.leaseUntil) - 30_000;
  expect(until).toBeGreaterThanOrEqual(before.getTime() - 1);
  expect(until).toBeLessThanOrEqual(after.getTime() + 1);
  expect(await claim(t, worker, id)).toBeNull();
});

test('every claim answers how many contact requests wait, as far as the token may answer them', async () => {
  const { worker, id, question: sent } = await asked(t);
  const [stranger] = (await crowd(t, 1)) as [TestAgent];
  await t.api.call('requestContact', {
    token: stranger.token,
    params: { address: worker.number },
    body: {},
    expect: 200,
  });
  const counted = async ({ token }: TestAgent) => {
    const options = { token, params: { id }, body: {}, expect: 200 as const };
    const { headers, body } = await t.api.call('claimRuntimeJob', options);
    return [headers['relayger-contact-requests'], body.delivery === null];
  };
  expect(await counted(worker)).toEqual(['1', false]);
  expect(await counted(worker)).toEqual(['1', true]);
  expect(await counted(await tokenFor(t, worker, { scopes: ['read', 'write'] }))).toEqual([
    '0',
    true,
  ]);
  expect(await counted(await tokenFor(t, worker, { roomIds: [sent.room] }))).toEqual(['0', true]);
});

test('a heartbeat renews the lease, and only its holder can', async () => {
  const { worker, id } = await asked(t);
  const job = await take(t, worker, id);
  await t.database.pool.query(
    `UPDATE runtime_deliveries SET due_at = now() + interval '3 seconds' WHERE id = $1`,
    [job.id],
  );
  const renewed = await heartbeat(worker, id, job);
  expect(renewed.version).toBe(job.version);
  expect(Date.parse(renewed.leaseUntil)).toBeGreaterThanOrEqual(Date.parse(job.leaseUntil));
  for (const wrong of [{ owner: id }, { version: '2' }, { version: '9223372036854775807' }])
    expect(await refusedHeartbeat(t, worker, id, { ...job, ...wrong }, { expect: 409 })).toBe(
      'lease_lost',
    );
  expect(await refusedHeartbeat(t, worker, id, { ...job, id }, { expect: 404 })).toBe('not_found');
  for (const version of ['0', '01', '-1', '1.0', '9223372036854775808', '1'.repeat(30)])
    expect(await refusedHeartbeat(t, worker, id, { ...job, version }, { expect: 400 })).toBe(
      'invalid_request',
    );
  await finish(t, worker, id, job);
  expect(await refusedHeartbeat(t, worker, id, job, { expect: 409 })).toBe('lease_lost');
});

test('a holder that comes back late changes nothing, and the next one is not disturbed', async () => {
  const { worker, id, question: sent } = await asked(t);
  const late = await take(t, worker, id);
  await endLeases(t, id);
  // Nobody else has it yet: the lease has ended all the same.
  const note = { key: 'k', text: 't', version: 0, sourceMessageIds: [] };
  const reports = [{}, { reply: 'late' }, { outcome: 'failed' }, { outcome: 'skipped' }, { note }];
  const refused = async () => {
    expect(await refusedHeartbeat(t, worker, id, late, { expect: 409 })).toBe('lease_lost');
    for (const report of reports)
      expect(await refusedFinish(t, worker, id, late, { expect: 409, ...report })).toBe(
        'lease_lost',
      );
  };
  await refused();
  const next = await take(t, worker, id);
  expect(next).toMatchObject({ id: late.id, jobKey: late.jobKey, version: '2', attempts: 2 });
  expect(next.owner).not.toBe(late.owner);
  await refused();
  // One of two names of a lease is not enough.
  for (const mixed of [{ owner: late.owner }, { version: late.version }])
    expect(await refusedFinish(t, worker, id, { ...next, ...mixed }, { expect: 409 })).toBe(
      'lease_lost',
    );
  await heartbeat(worker, id, next);
  const { reply } = await finish(t, worker, id, next, { reply: 'in time' });
  await refused();
  expect(await states(t, worker, id)).toEqual(['handled']);
  const params = { room: sent.room };
  const { body: history } = await t.api.call('listMessages', {
    token: worker.token,
    params,
    expect: 200,
  });
  expect(history.map(({ messageId }) => messageId)).toEqual([sent.id, reply?.id]);
  const query = { room: sent.room };
  const notes = await t.api.call('listRuntimeNotes', {
    token: worker.token,
    params: { id },
    query,
    expect: 200,
  });
  expect(notes.body).toEqual([]);
});

test('attempts are counted when they begin: after the last lease has ended the job is dead, also where nobody claims', async () => {
  const { worker, id } = await asked(t, { maxAttempts: 3 });
  for (const attempts of upTo(3)) {
    expect((await take(t, worker, id)).attempts).toBe(attempts);
    await endLeases(t, id);
    expect(await states(t, worker, id)).toEqual([attempts < 3 ? 'pending' : 'dead_letter']);
  }
  expect(await claim(t, worker, id)).toBeNull();
  expect(await claim(t, worker, id)).toBeNull();
  expect(await states(t, worker, id)).toEqual(['dead_letter']);
});

test('a failed job comes back after pauses that grow, and is a dead letter after its last attempt', async () => {
  const { worker, id } = await asked(t, { maxAttempts: 5 });
  const pauses = [];
  for (const attempts of upTo(5)) {
    const job = await take(t, worker, id);
    expect(job.attempts).toBe(attempts);
    await finish(t, worker, id, job, { outcome: 'failed' });
    expect(await states(t, worker, id)).toEqual([attempts < 5 ? 'pending' : 'dead_letter']);
    const { rows } = await t.database.pool.query<{ pause: number }>(
      'SELECT round(extract(epoch FROM due_at - updated_at)::numeric, 1)::float AS pause FROM runtime_deliveries WHERE runtime_id = $1',
      [id],
    );
    pauses.push(rows[0]?.pause);
    if (attempts < 5) expect(await claim(t, worker, id)).toBeNull();
    await endPauses(t, id);
  }
  expect(pauses.slice(0, 4)).toEqual([1, 2, 4, 8]);
  expect(await claim(t, worker, id)).toBeNull();
});

test('a retry does not hold up the jobs behind it, which come in the order of their room', async () => {
  const { asker, worker, id, question: first } = await asked(t);
  const rest = [];
  for (const n of upTo(3)) rest.push(await ask(t, asker, worker, `question ${n}`));
  const job = await take(t, worker, id);
  expect(job.messageId).toBe(first.id);
  await finish(t, worker, id, job, { outcome: 'failed' });
  for (const { id: messageId } of rest) {
    const next = await take(t, worker, id);
    expect(next.messageId).toBe(messageId);
    await finish(t, worker, id, next);
  }
  await endPauses(t, id);
  expect(await take(t, worker, id)).toMatchObject({ messageId: first.id, attempts: 2 });
});

test('jobs of several rooms take turns', async () => {
  const { asker, worker } = await pair(t);
  const rooms = [await group(t, asker, worker), await group(t, asker, worker)];
  for (const room of rooms)
    for (const n of upTo(3)) await say(t, asker, room, question(`${n}`, { mentions: [worker.id] }));
  const { id } = await register(t, worker);
  const taken = [];
  for (const _ of upTo(6)) {
    const job = await take(t, worker, id);
    taken.push([job.message.conversationId, job.message.sequence]);
    await finish(t, worker, id, job);
  }
  expect(taken.map(([, sequence]) => sequence)).toEqual(['1', '1', '2', '2', '3', '3']);
  expect(new Set(taken.slice(0, 2).map(([room]) => room)).size).toBe(2);
});

test.each([1, 3, 8])(
  'at most %i leases are valid at a time, whoever claims',
  async (concurrency) => {
    const { asker, worker } = await pair(t);
    const { id } = await register(t, worker, { policy: { concurrency } });
    for (const n of upTo(12)) await ask(t, asker, worker, `question ${n}`);
    const replica = await t.replica();
    const doors = [t, { api: replica.api }];
    const claims = (count: number) =>
      Promise.all(upTo(count).map((n) => claim(doors[n % 2] as TestApi, worker, id)));
    const jobs = (await claims(16)).filter((job) => job !== null);
    expect(jobs).toHaveLength(concurrency);
    expect(new Set(jobs.map((job) => job.id)).size).toBe(concurrency);
    if (jobs[0]) await finish(t, worker, id, jobs[0], { outcome: 'skipped' });
    expect((await claims(8)).filter((job) => job !== null)).toHaveLength(1);
    // A lease that has ended makes room.
    await endLeases(t, id);
    expect((await claims(16)).filter((job) => job !== null)).toHaveLength(concurrency);
    await replica.close();
  },
);

test('the calls of a UTC hour count every claim, retries included, exactly so under parallel claims', async () => {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker, { policy: { maxCallsPerHour: 5, concurrency: 8 } });
  for (const n of upTo(8)) await ask(t, asker, worker, `question ${n}`);
  const first = await take(t, worker, id);
  await finish(t, worker, id, first, { outcome: 'failed' });
  await endPauses(t, id);
  const replica = await t.replica();
  const doors = [t, { api: replica.api }];
  const more = await Promise.all(upTo(12).map((n) => claim(doors[n % 2] as TestApi, worker, id)));
  await replica.close();
  expect(more.filter((job) => job !== null)).toHaveLength(4);
  expect(more.some((job) => job?.id === first.id)).toBe(true);
  // An hour later there are five again.
  await t.database.pool.query(
    `UPDATE runtimes SET calls_hour = calls_hour - interval '1 hour' WHERE id = $1`,
    [id],
  );
  const next = await Promise.all(upTo(8).map(() => claim(t, worker, id)));
  expect(next.filter((job) => job !== null)).toHaveLength(4);
  const { rows } = await t.database.pool.query('SELECT calls FROM runtimes WHERE id = $1', [id]);
  expect(rows).toEqual([{ calls: 4 }]);
});

test('outside of the active hours work waits', async () => {
  const hour = (await databaseTime()).getUTCHours();
  // The hour may change while the test runs: both are meant.
  const now = [hour, (hour + 1) % 24];
  const others = Array.from({ length: 24 }, (_, h) => h).filter((h) => !now.includes(h));
  const { asker, worker } = await pair(t);
  const awake = await register(t, worker, { name: 'awake', policy: { activeHoursUTC: now } });
  const asleep = await register(t, worker, { name: 'asleep', policy: { activeHoursUTC: others } });
  const { id } = await ask(t, asker, worker);
  expect((await take(t, worker, awake.id)).messageId).toBe(id);
  expect(await claim(t, worker, asleep.id)).toBeNull();
  expect(await states(t, worker, asleep.id)).toEqual([]);
  await t.database.pool.query(`UPDATE runtimes SET active_hours = '{}' WHERE id = $1`, [asleep.id]);
  expect((await take(t, worker, asleep.id)).messageId).toBe(id);
});

test('a history of thousands of messages without work is passed, a part at a time', async () => {
  const { asker, worker } = await pair(t);
  const room = await group(t, asker, worker);
  await t.database.pool.query(
    `INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, trace_id)
     SELECT $1, n, gen_random_uuid(), $2, gen_random_uuid(), '\\x00', 'text', '{"text":"old"}', gen_random_uuid()
     FROM generate_series(1, 7000) AS n`,
    [room, asker.id],
  );
  await t.database.pool.query('UPDATE rooms SET last_seq = 7000 WHERE id = $1', [room]);
  const { id: sent } = await say(t, asker, room, question('at last', { mentions: [worker.id] }));
  const { id } = await register(t, worker);
  let job = null;
  // Each claim looks for a second at most; on a slow machine it takes more than one.
  for (let n = 0; n < 20 && !job; n++) job = await claim(t, worker, id);
  expect(job?.messageId).toBe(sent);
});

test('claims take no body but an empty object', async () => {
  const { worker, id } = await asked(t);
  const options = { token: worker.token, params: { id }, expect: 400 as const };
  await t.api.call('claimRuntimeJob', { ...options, body: { wait: 5 } });
  await t.api.call('claimRuntimeJob', { ...options });
});
