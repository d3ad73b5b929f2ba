import {
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import { OPERATIONS, POLICY_DEFAULTS } from '@relayger/protocol';
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
  tokenFor,
  upTo,
} from './support.js';

let t: TestApi;
let agent: TestAgent;
beforeAll(async () => {
  t = await startTestApi();
  [agent] = (await crowd(t, 1)) as [TestAgent];
});
afterAll(() => t.close());

const tryRegister = (body: unknown, status: number, token = agent.token) =>
  t.api.call('registerRuntime', { token, body, expect: status as 400 });

test('a runtime without a policy has the default one, and is listed and read as it was answered', async () => {
  const { token } = agent;
  const body = { name: 'plain', from: 'now' as const };
  const { body: created } = await t.api.call('registerRuntime', { token, body, expect: 201 });
  expect(created).toEqual({
    id: expect.any(String),
    name: 'plain',
    from: 'now',
    policy: POLICY_DEFAULTS,
    version: 1,
    createdAt: expect.any(String),
  });
  expect(created.policy).toEqual({
    triggers: ['questions'],
    allowedSenders: [],
    allowedRooms: [],
    maxAttempts: 3,
    maxCallsPerHour: 60,
    concurrency: 1,
    activeHoursUTC: [],
  });
  const list = await t.api.call('listRuntimes', { token, expect: 200 });
  expect(list.body).toEqual([created]);
  const params = { id: created.id };
  expect((await t.api.call('getRuntime', { token, params, expect: 200 })).body).toEqual(created);
});

test('the same registration again answers the same runtime; the order of lists does not matter', async () => {
  const [one, two] = (await crowd(t, 2)) as [TestAgent, TestAgent];
  const policy = { triggers: ['direct', 'questions'], allowedSenders: [one.id, two.id] };
  const body = { name: 'again', from: 'beginning', policy };
  const first = await t.api.raw('POST', '/v1/runtimes', { token: one.token, body, expect: 201 });
  const reordered = {
    triggers: ['questions', 'direct'],
    allowedSenders: [two.id, one.id],
    maxAttempts: 3,
  };
  const again = await t.api.raw('POST', '/v1/runtimes', {
    token: one.token,
    body: { ...body, policy: reordered },
    expect: 200,
  });
  expect(again.body).toEqual(first.body);
});

test.each([
  ['another start', { from: 'now' }],
  ['another trigger', { policy: { triggers: ['direct'] } }],
  ['one more trigger', { policy: { triggers: ['questions', 'direct'] } }],
  ['other attempts', { policy: { maxAttempts: 4 } }],
  ['other calls', { policy: { maxCallsPerHour: 61 } }],
  ['other concurrency', { policy: { concurrency: 2 } }],
  ['other hours', { policy: { activeHoursUTC: [1] } }],
  ['another sender', { policy: { allowedSenders: ['0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01'] } }],
  ['another room', { policy: { allowedRooms: ['0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01'] } }],
])('the same name with %s is a conflict', async (_name, change) => {
  const body = { name: 'settled', from: 'beginning' };
  await t.api.raw('POST', '/v1/runtimes', { token: agent.token, body });
  const reply = await tryRegister({ ...body, ...change }, 409);
  expect(reply.body.error.code).toBe('runtime_configuration_conflict');
});

test.each<[string, unknown]>([
  ['no name', { from: 'now' }],
  ['an empty name', { name: '', from: 'now' }],
  ['a name of two lines', { name: 'a\nb', from: 'now' }],
  ['a name of 65 bytes', { name: `${'ü'.repeat(32)}x`, from: 'now' }],
  ['no start', { name: 'bad' }],
  ['an unknown start', { name: 'bad', from: 'yesterday' }],
  ['an unknown field', { name: 'bad', from: 'now', extra: 1 }],
  ...[
    { extra: 1 },
    { triggers: [] },
    { triggers: ['all'] },
    { triggers: ['direct', 'direct'] },
    { triggers: 'questions' },
    { allowedSenders: ['bob'] },
    { allowedSenders: ['0190B2F4-7C1D-7E3A-9B52-1F6C2D8E4A01'] },
    { allowedRooms: [null] },
    { maxAttempts: 0 },
    { maxAttempts: 6 },
    { maxAttempts: '3' },
    { maxCallsPerHour: 0 },
    { maxCallsPerHour: 100_001 },
    { maxCallsPerHour: 1.5 },
    { concurrency: 0 },
    { concurrency: 9 },
    { activeHoursUTC: [24] },
    { activeHoursUTC: [-1] },
    { activeHoursUTC: [6, 6] },
    { activeHoursUTC: null },
  ].map((policy): [string, unknown] => [
    `the policy ${JSON.stringify(policy)}`,
    { name: 'bad', from: 'now', policy },
  ]),
])('%s is refused', async (_name, body) => {
  expect((await tryRegister(body, 400)).body.error.code).toBe('invalid_request');
});

test.each([
  { maxAttempts: 1, concurrency: 1, maxCallsPerHour: 1 },
  { maxAttempts: 5, concurrency: 8, maxCallsPerHour: 100_000 },
])('the bounds %j are taken', async (policy) => {
  const [one] = (await crowd(t, 1)) as [TestAgent];
  expect((await register(t, one, { policy })).policy).toMatchObject(policy);
});

test('an agent has at most eight runtimes, exactly so under parallel registrations', async () => {
  const [one] = (await crowd(t, 1)) as [TestAgent];
  const replica = await t.replica();
  const replies = await Promise.all(
    upTo(12).map((n) =>
      (n % 2 ? t.api : replica.api).raw('POST', '/v1/runtimes', {
        token: one.token,
        body: { name: `w${n}`, from: 'now' },
      }),
    ),
  );
  await replica.close();
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(8);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(4);
  const { body } = await t.api.call('listRuntimes', { token: one.token, expect: 200 });
  expect(body).toHaveLength(8);
  const ninth = await tryRegister({ name: 'ninth', from: 'now' }, 429, one.token);
  expect(ninth.body.error.code).toBe('runtime_limit');
  // One of the eight is still answered.
  const name = body[0]?.name as string;
  await t.api.call('registerRuntime', {
    token: one.token,
    body: { name, from: 'now' },
    expect: 200,
  });
});

test('parallel registrations of one name make one runtime', async () => {
  const [one] = (await crowd(t, 1)) as [TestAgent];
  const body = { name: 'same', from: 'now' };
  const replies = await Promise.all(
    upTo(8).map(() => t.api.raw('POST', '/v1/runtimes', { token: one.token, body })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201]);
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
});

test('two agents may use one name, and neither sees the runtime of the other', async () => {
  const [one, two] = (await crowd(t, 2)) as [TestAgent, TestAgent];
  const mine = await register(t, one);
  expect((await register(t, two)).id).not.toBe(mine.id);
  const options = { token: two.token, params: { id: mine.id }, expect: 404 as const };
  await t.api.call('getRuntime', options);
  await t.api.call('getRuntimeLog', options);
  await t.api.call('getRuntimeStats', options);
  await t.api.call('claimRuntimeJob', { ...options, body: {} });
  await t.api.call('configureRuntime', { ...options, body: { version: 1, policy: {} } });
});

test('reading needs read, and everything else read and write', async () => {
  const one = await tokenFor(t, agent, { scopes: ['read'] });
  const other = await tokenFor(t, agent, { scopes: ['write'] });
  const [{ id = '' } = {}] = (await t.api.call('listRuntimes', { token: one.token, expect: 200 }))
    .body;
  const params = { id };
  const uuid = id;
  const lease = { deliveryId: uuid, owner: uuid, version: '1' };
  const note = { room: uuid, key: 'k', text: 't', version: 0, sourceMessageIds: [] };
  for (const { token } of [one, other]) {
    const expect = 403 as const;
    await t.api.call('registerRuntime', { token, body: { name: 'x', from: 'now' }, expect });
    await t.api.call('claimRuntimeJob', { token, params, body: {}, expect });
    await t.api.call('heartbeatRuntimeJob', { token, params, body: lease, expect });
    await t.api.call('finishRuntimeJob', {
      token,
      params,
      body: { ...lease, outcome: 'handled' },
      expect,
    });
    await t.api.call('configureRuntime', {
      token,
      params,
      body: { version: 1, policy: {} },
      expect,
    });
    await t.api.call('writeRuntimeNote', { token, params, body: note, expect });
  }
  for (const [{ token }, status] of [
    [one, 200],
    [other, 403],
  ] as const) {
    await t.api.raw('GET', '/v1/runtimes', { token, expect: status });
    for (const part of ['', '/log', '/stats', ...(status === 403 ? [`/notes?room=${id}`] : [])])
      await t.api.raw('GET', `/v1/runtimes/${id}${part}`, { token, expect: status });
  }
});

test('no call is made without a token, or with an id that is none', async () => {
  const operations = OPERATIONS.filter(({ tag }) => tag === 'runtimes');
  expect(operations).toHaveLength(11);
  const { token } = agent;
  for (const operation of operations) {
    const params = { id: agent.id };
    const body = operation.method === 'POST' ? {} : undefined;
    await t.api.call(operation, { params, ...(body && { body }), expect: 401 });
    if (!operation.params) continue;
    await t.api.call(operation, {
      token,
      params: { id: 'mine' },
      ...(body && { body }),
      expect: 400,
    });
  }
});

test('people have no runtimes', async () => {
  const { token } = await registerHuman(t);
  const id = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';
  const lease = { deliveryId: id, owner: id, version: '1' };
  const note = { room: id, key: 'k', text: 't', version: 0, sourceMessageIds: [] };
  const params = { id };
  const calls = [
    await tryRegister({ name: 'x', from: 'now' }, 403, token),
    await t.api.call('listRuntimes', { token, expect: 403 }),
    await t.api.call('getRuntime', { token, params, expect: 403 }),
    await t.api.call('getRuntimeLog', { token, params, expect: 403 }),
    await t.api.call('getRuntimeStats', { token, params, expect: 403 }),
    await t.api.call('claimRuntimeJob', { token, params, body: {}, expect: 403 }),
    await t.api.call('heartbeatRuntimeJob', { token, params, body: lease, expect: 403 }),
    await t.api.call('finishRuntimeJob', {
      token,
      params,
      body: { ...lease, outcome: 'handled' },
      expect: 403,
    }),
    await t.api.call('configureRuntime', {
      token,
      params,
      body: { version: 1, policy: {} },
      expect: 403,
    }),
    await t.api.call('listRuntimeNotes', { token, params, query: { room: id }, expect: 403 }),
    await t.api.call('writeRuntimeNote', { token, params, body: note, expect: 403 }),
  ];
  expect(new Set(calls.map(({ body }) => body.error.code))).toEqual(new Set(['agent_only']));
});

test('beginning pages through all that can be read, now starts behind it, and later rooms are read from their start', async () => {
  const { asker, worker } = await pair(t);
  const old = await group(t, asker, worker);
  const history = [];
  for (const n of upTo(3))
    history.push(await say(t, asker, old, question(`old ${n}`, { mentions: [worker.id] })));
  const policy = { concurrency: 8 };
  const all = await register(t, worker, { name: 'all', policy });
  const fresh = await register(t, worker, { name: 'fresh', from: 'now', policy });
  const later = await group(t, asker, worker);
  history.push(await say(t, asker, later, question('elsewhere', { mentions: [worker.id] })));
  history.push(await ask(t, asker, worker, 'directly'));
  history.push(await say(t, asker, old, question('new', { mentions: [worker.id] })));

  const taken = async (id: string) => {
    const ids = [];
    for (;;) {
      const job = await claim(t, worker, id);
      if (!job) return ids.sort();
      ids.push(job.messageId);
      await finish(t, worker, id, job);
    }
  };
  expect(await taken(all.id)).toEqual(history.map(({ id }) => id).sort());
  expect(await taken(fresh.id)).toEqual(
    history
      .slice(3)
      .map(({ id }) => id)
      .sort(),
  );
  // Registering once more moves nothing.
  await ask(t, asker, worker, 'while it was away');
  const body = { name: 'fresh', from: 'now' as const, policy };
  await t.api.call('registerRuntime', { token: worker.token, body, expect: 200 });
  expect(await taken(fresh.id)).toHaveLength(1);
});

test('now takes a point in every room, whatever is sent at that moment', async () => {
  const { asker, worker } = await pair(t);
  const rooms = [await group(t, asker, worker), await group(t, asker, worker)];
  const policy = { triggers: ['mentions' as const], concurrency: 8, maxCallsPerHour: 1000 };
  const sending = upTo(60).map((n) =>
    say(t, asker, rooms[n % 2] as string, textMessage(`${n}`, { mentions: [worker.id] })),
  );
  await sending[5];
  const { id } = await register(t, worker, { from: 'now', policy });
  await Promise.all(sending);
  const { rows } = await t.database.pool.query<{ room_id: string; seq: string }>(
    'SELECT room_id, seq FROM runtime_cursors WHERE runtime_id = $1',
    [id],
  );
  const starts = new Map(rows.map(({ room_id, seq }) => [room_id, Number(seq)]));
  const taken = new Map(rooms.map((room) => [room, [] as number[]]));
  for (;;) {
    const job = await claim(t, worker, id);
    if (!job) break;
    taken.get(job.message.conversationId)?.push(Number(job.message.sequence));
    await finish(t, worker, id, job);
  }
  for (const room of rooms) {
    const start = starts.get(room) as number;
    expect(taken.get(room)).toEqual(upTo(30).filter((seq) => seq > start));
  }
});
