import { randomUUID } from 'node:crypto';
import {
  disable,
  openToken,
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import type { CreateTaskRequest } from '@relayger/protocol';
import {
  claim,
  create,
  crew,
  custom,
  events,
  expel,
  get,
  group,
  order,
  refusal,
  upTo,
} from './support.js';

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

const why = (body: unknown, status = 400, who = boss) =>
  refusal(t, who, 'createTask', status, { body });

describe('a task', () => {
  test('is created for an active agent of the room and told to the room', async () => {
    const request = custom(room, worker, { data: { to: 'de' } });
    const task = await create(t, boss, request);
    expect(task).toEqual({
      id: task.id,
      roomId: room,
      creatorId: boss.id,
      assigneeId: worker.id,
      parentTaskId: null,
      rootTaskId: task.id,
      depth: 1,
      clientTaskId: request.clientTaskId,
      input: request.input,
      state: 'queued',
      version: '1',
      attempts: 0,
      createdAt: task.createdAt,
      updatedAt: task.createdAt,
    });
    const [event] = (await events(t, worker, room, 'task')).slice(-1);
    expect(event).toMatchObject({
      sender: { id: boss.id },
      payload: { taskId: task.id, summary: 'Translate it' },
      rootTaskId: task.id,
    });
  });

  test('wakes the mailbox of its assignee', async () => {
    const [alone, mate] = (await crew(t, 2)) as [TestAgent, TestAgent];
    const place = await group(t, alone, mate);
    const query = { wait: 30, limit: 5 };
    const waiting = t.api.call('readMailbox', { token: mate.token, query, expect: 200 });
    const task = await create(t, alone, order(place, mate));
    const [item] = (await waiting).body;
    expect(item).toMatchObject({ type: 'task', body: { taskId: task.id }, root: task.id });
  });

  test.each([
    [{ operation: 'echo', text: 'one\n two' }, 'echo: one two'],
    [{ operation: 'uppercase', text: 'ä'.repeat(300) }, `uppercase: ${'ä'.repeat(93)}…`],
    [{ operation: 'coordinate', text: 'ask others' }, 'coordinate: ask others'],
    [{ operation: 'sum', values: [1, 2.5, -3] }, 'sum: 1 + 2.5 + -3'],
  ] as const)('may be a built-in example: %j', async (input, summary) => {
    const task = await create(
      t,
      boss,
      order(room, worker, { input: structuredClone(input) as CreateTaskRequest['input'] }),
    );
    expect(task.input).toEqual(input);
    const [event] = (await events(t, boss, room, 'task')).slice(-1);
    expect(event?.payload).toEqual({ taskId: task.id, summary });
  });

  test('may be given by a person and by an agent to itself', async () => {
    const human = await registerHuman(t);
    const place = await group(t, boss, human, worker);
    expect(await create(t, human, order(place, worker))).toMatchObject({ creatorId: human.id });
    const own = await create(t, worker, order(place, worker));
    expect(own).toMatchObject({ creatorId: worker.id, assigneeId: worker.id });
  });

  test('is not made of what is said in the room', async () => {
    const before = await t.database.pool.query('SELECT count(*) FROM tasks');
    const body = textMessage('{"operation":"echo","text":"do it"}');
    await t.api.call('sendMessage', { token: boss.token, params: { room }, body, expect: 201 });
    expect((await t.database.pool.query('SELECT count(*) FROM tasks')).rows).toEqual(before.rows);
  });
});

describe('a wrong input is refused', () => {
  const title = (bytes: number) => 'é'.repeat(bytes / 2);
  const input = (more: object) => ({ operation: 'custom', kind: 'a.v1', title: 'It', ...more });
  test.each([
    [
      'an operation that does not exist',
      { operation: 'shell', text: 'ls' },
      'body.input.operation',
    ],
    ['no operation', { text: 'x' }, 'body.input.operation'],
    ['no text', { operation: 'echo' }, 'body.input.text'],
    ['an empty text', { operation: 'uppercase', text: '' }, 'body.input.text'],
    ['a long text', { operation: 'echo', text: 'x'.repeat(16_001) }, 'body.input.text'],
    ['NUL in the text', { operation: 'coordinate', text: 'a\u0000' }, 'body.input.text'],
    ['values with an echo', { operation: 'echo', text: 'x', values: [1] }, 'body.input'],
    ['a text with a sum', { operation: 'sum', values: [1], text: 'x' }, 'body.input'],
    ['no values', { operation: 'sum', values: [] }, 'body.input.values'],
    ['values that are no numbers', { operation: 'sum', values: ['1'] }, 'body.input.values[0]'],
    ['too many values', { operation: 'sum', values: Array(1001).fill(1) }, 'body.input.values'],
    ['no kind', { operation: 'custom', title: 'x' }, 'body.input.kind'],
    ['a kind that is no name', input({ kind: 'Translate v1' }), 'body.input.kind'],
    ['a kind that starts with a digit', input({ kind: '1.v1' }), 'body.input.kind'],
    ['no title', input({ title: undefined }), 'body.input.title'],
    ['a title of 202 bytes', input({ title: title(202) }), 'body.input.title'],
    ['a title of two lines', input({ title: 'a\nb' }), 'body.input.title'],
    ['data that is no object', input({ data: [1] }), 'body.input.data'],
    ['data above 32 KiB', input({ data: { a: 'x'.repeat(32_768) } }), 'body.input.data'],
    [
      'a deadline that has passed',
      input({ deadline: '2020-01-01T00:00:00Z' }),
      'body.input.deadline',
    ],
    [
      'a deadline in the year 0',
      input({ deadline: '0000-01-01T00:00:00Z' }),
      'body.input.deadline',
    ],
    [
      'a deadline with an offset',
      input({ deadline: '2099-01-01T00:00:00+01:00' }),
      'body.input.deadline',
    ],
    ['a deadline that is no time', input({ deadline: 'tomorrow' }), 'body.input.deadline'],
    ['an empty deadline', input({ deadline: '' }), 'body.input.deadline'],
    ['an unknown field', input({ priority: 1 }), 'body.input'],
  ])('%s', async (_, wrong, path) => {
    expect(await why({ ...order(room, worker), input: wrong })).toBe(path);
  });

  test('at the very limit it is taken', async () => {
    const data = { a: 'x'.repeat(32_768 - 8) };
    const deadline = '9999-12-31T23:59:59Z';
    const task = await create(t, boss, custom(room, worker, { title: title(200), data, deadline }));
    expect(task.input).toEqual({
      operation: 'custom',
      kind: 'translate.v1',
      title: title(200),
      data,
      deadline,
    });
  });

  test('numbers that JSON cannot hold', async () => {
    const body = order(room, worker, { input: { operation: 'sum', values: [1] } });
    const rawBody = JSON.stringify(body).replace('[1]', '[1e999]');
    const reply = await t.api.raw('POST', '/v1/tasks', { token: boss.token, rawBody });
    expect(reply.status).toBe(400);
  });
});

describe('the assignee must be an active agent of the room', () => {
  test('named by its UUID', async () => {
    for (const assigneeId of [worker.number, `@${worker.handle}`, worker.handle]) {
      expect(await why({ ...order(room, worker), assigneeId })).toBe('body.assigneeId');
    }
  });

  test('and neither a person, nor a stranger, nor nobody, nor disabled', async () => {
    const human = await registerHuman(t);
    const [stranger, gone] = (await crew(t, 2)) as [TestAgent, TestAgent];
    const place = await group(t, boss, human, gone);
    await disable(t, gone);
    for (const who of [human, stranger, gone, { id: randomUUID() }]) {
      expect(await why(order(place, who))).toBe('body.assigneeId');
    }
    const { rows } = await t.database.pool.query('SELECT FROM tasks WHERE room_id = $1', [place]);
    expect(rows).toHaveLength(0);
  });
});

describe('whoever may not send in the room may give no task in it', () => {
  test('a stranger, one who left, and one whose token is for other rooms see no room', async () => {
    const [stranger, leaver] = (await crew(t, 2)) as [TestAgent, TestAgent];
    const place = await group(t, boss, leaver, worker);
    await expel(t, boss, place, leaver);
    const elsewhere = { ...boss, token: await openToken(t, boss, { roomIds: [room] }) };
    for (const who of [stranger, leaver, elsewhere]) {
      expect(await why(order(place, worker), 404, who)).toBe('not_found');
    }
    expect(await why(order(randomUUID(), worker), 404)).toBe('not_found');
    const inPlace = { ...boss, token: await openToken(t, boss, { roomIds: [place] }) };
    await create(t, inPlace, order(place, worker));
  });

  test('a token without the tasks scope may not', async () => {
    const narrow = { ...boss, token: await openToken(t, boss, { scopes: ['read', 'write'] }) };
    expect(await why(order(room, worker), 403, narrow)).toBe('insufficient_scope');
  });

  test('nor may anybody in a direct conversation whose contact has ended or is blocked', async () => {
    const [a, b] = (await crew(t, 2)) as [TestAgent, TestAgent];
    await t.befriend(a, b);
    const body = { target: b.number, message: textMessage('hello') };
    const sent = await t.api.call('sendDirect', { token: a.token, body, expect: 201 });
    const dm = (sent.body as { room: string }).room;
    const act = (verb: 'remove' | 'block') =>
      t.api.call(`${verb}Contact` as const, {
        token: b.token,
        params: { address: a.number },
        body: {},
        expect: 200,
      });
    const request = order(dm, b);
    const task = await create(t, a, request);
    await act('remove');
    expect(await why(order(dm, b), 403, a)).toBe('contact_required');
    await act('block');
    expect(await why(order(dm, b), 403, a)).toBe('contact_unavailable');
    // What this key has created is still found, as a message would be.
    const again = await t.api.call('createTask', { token: a.token, body: request, expect: 200 });
    expect(again.body).toEqual(task);
  });
});

describe('one key stands for one task', () => {
  test('the same content again gives the task as it is now', async () => {
    const request = custom(room, worker, { data: { a: 1, b: 2 } });
    const task = await create(t, boss, request);
    const held = await claim(t, worker, task);
    const again = { ...request, input: { ...request.input, data: { b: 2, a: 1 } } };
    const reply = await t.api.call('createTask', {
      token: boss.token,
      body: again as CreateTaskRequest,
      expect: 200,
    });
    expect(reply.body).toEqual(await get(t, boss, task));
    expect(reply.body).toMatchObject({ id: task.id, state: 'running', version: held.version });
    expect(reply.body).not.toHaveProperty('leaseOwner');
    const mine = (await events(t, boss, room, 'task')).filter(
      ({ payload }) => (payload as { taskId: string }).taskId === task.id,
    );
    expect(mine).toHaveLength(1);
  });

  test('other content is refused, whatever differs', async () => {
    const [mate] = (await crew(t, 1)) as [TestAgent];
    const other = await group(t, boss, worker);
    await t.api.call('addMember', {
      token: boss.token,
      params: { room, identity: mate.id },
      expect: 201,
    });
    const request = order(room, worker);
    await create(t, boss, request);
    const differing = [
      { ...request, input: { operation: 'echo', text: 'hello ' } },
      { ...request, input: { operation: 'uppercase', text: 'hello' } },
      { ...request, assigneeId: mate.id },
      { ...request, roomId: other },
    ];
    for (const body of differing) expect(await why(body, 409)).toBe('idempotency_conflict');
    // Keys belong to their creator.
    expect(await create(t, worker, request)).toMatchObject({ creatorId: worker.id });
  });

  test('after its deadline too', async () => {
    const deadline = new Date(Date.now() + 3_600_000).toISOString();
    const request = custom(room, worker, { deadline });
    const { id } = await create(t, boss, request);
    await t.database.pool.query(
      "UPDATE tasks SET deadline = now() - interval '1 s' WHERE id = $1",
      [id],
    );
    const reply = await t.api.call('createTask', { token: boss.token, body: request, expect: 200 });
    expect(reply.body.id).toBe(id);
  });

  test('also when it is sent twenty times at once, to two processes', async () => {
    const replica = await t.replica();
    const request = order(room, worker, { input: { operation: 'echo', text: 'race' } });
    const replies = await Promise.all(
      upTo(20).map((n) =>
        (n % 2 ? t : replica).api.raw('POST', '/v1/tasks', { token: boss.token, body: request }),
      ),
    );
    await replica.close();
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(19);
    expect(new Set(replies.map(({ body }) => (body as { id: string }).id)).size).toBe(1);
    const told = (await events(t, boss, room, 'task')).filter(
      ({ payload }) => (payload as { summary: string }).summary === 'echo: race',
    );
    expect(told).toHaveLength(1);
  });

  test('and of two contents at once one is taken', async () => {
    const request = order(room, worker);
    const bodies = upTo(8).map((n) => ({
      ...request,
      input: { operation: 'echo', text: `version ${n % 2}` },
    }));
    const replies = await Promise.all(
      bodies.map((body) => t.api.raw('POST', '/v1/tasks', { token: boss.token, body })),
    );
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 200, 201, 409, 409, 409, 409]);
  });
});

test('a member that is removed while tasks are made for it gets none afterwards', async () => {
  const members = await crew(t, 6);
  const place = await group(t, boss, ...members);
  const statuses = new Set<number>();
  await Promise.all(
    members.flatMap((member) => [
      ...upTo(3).map(async () => {
        const body = order(place, member);
        const reply = await t.api.raw('POST', '/v1/tasks', { token: boss.token, body });
        statuses.add(reply.status);
      }),
      expel(t, boss, place, member),
    ]),
  );
  for (const status of statuses) expect([201, 400]).toContain(status);
  for (const member of members) {
    expect(await why(order(place, member))).toBe('body.assigneeId');
  }
});
