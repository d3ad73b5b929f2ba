import {
  openToken,
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
  type TestHuman,
  textMessage,
} from '@relayger/api/testing';
import type { ActivityKind, ActivityPage } from '@relayger/protocol';
import {
  MINUTE,
  owned,
  ownedOne,
  roomOf,
  runtimeOf,
  seedApproval,
  seedAttempt,
  seedMessages,
  seedTask,
  until,
} from './work-support.js';

let t: TestApi;
let owner: TestHuman;
beforeAll(async () => {
  t = await startTestApi();
});
beforeEach(async () => {
  owner = await registerHuman(t);
});
afterAll(() => t.close());

type Query = Parameters<typeof feed>[0];
async function feed(
  query: {
    agentId?: string;
    kind?: ActivityKind;
    limit?: number;
    before?: string;
    after?: string;
  } = {},
  { token }: Pick<TestHuman, 'token'> = owner,
): Promise<ActivityPage> {
  return (await t.api.call('listActivity', { token, query, expect: 200 })).body;
}

/** The first page once it has this many items: what was committed this very millisecond comes in the next. */
async function feedOf(count: number, query: Query = {}): Promise<ActivityPage> {
  return until(
    () => feed(query),
    ({ items }) => items.length >= count,
  );
}

async function refused(query: Record<string, string>, by = owner) {
  const reply = await t.api.call('listActivity', { token: by.token, query, expect: 400 });
  expect(reply.body.error.code).toBe('invalid_request');
  return (reply.body.error.details as { issues: { path: string }[] }).issues.map(
    ({ path }) => path,
  );
}

test('whoever owns no agent has an empty feed, and can wait for what is to come', async () => {
  const { items, nextCursor, newestCursor } = await feed();
  expect({ items, nextCursor }).toEqual({ items: [], nextCursor: null });
  const agent = await ownedOne(t, owner);
  const nothing = await feed({ after: newestCursor });
  expect(nothing).toEqual({ items: [], nextCursor: newestCursor, newestCursor });
  await seedMessages(t, agent, { at: MINUTE });
  expect((await feed({ after: newestCursor })).items).toHaveLength(1);
});

test('a task is there when it is created and again when it is finished, with its state of now', async () => {
  const agent = await ownedOne(t, owner);
  const boss = await t.agent();
  const roomId = await roomOf(t, boss);
  const params = { room: roomId, identity: agent.id };
  await t.api.call('addMember', { token: boss.token, params, expect: 201 });
  const task = await t.api.call('createTask', {
    token: boss.token,
    body: {
      ...{ roomId, assigneeId: agent.id, clientTaskId: crypto.randomUUID() },
      input: { operation: 'custom', kind: 'translate.v1', title: 'Translate' },
    },
    expect: 201,
  });
  const { id, createdAt } = task.body;
  const created = {
    ...{ id: `${id}:created`, kind: 'task', event: 'created', at: createdAt },
    ...{ agentId: agent.id, roomId, taskId: id, creatorId: boss.id, parentTaskId: null },
    ...{ rootTaskId: id, operation: 'custom', state: 'queued' },
  };
  expect((await feedOf(1)).items).toEqual([created]);
  const claim = { token: agent.token, params: { id }, body: {}, expect: 200 as const };
  const { version, leaseOwner } = (await t.api.call('claimTask', claim)).body;
  expect((await feed()).items).toEqual([{ ...created, state: 'running' }]);
  const done = await t.api.call('updateTask', {
    ...claim,
    body: { state: 'completed', version, leaseOwner: leaseOwner as string, result: { text: 'so' } },
  });
  expect((await feedOf(2)).items).toEqual([
    {
      ...created,
      ...{ id: `${id}:finished`, event: 'finished', at: done.body.updatedAt, state: 'completed' },
    },
    { ...created, state: 'completed' },
  ]);
  // The task is the assignee's, not its creator's.
  await t.database.pool.query('UPDATE identities SET owner_id = $2 WHERE id = $1', [
    boss.id,
    owner.id,
  ]);
  expect((await feed({ agentId: boss.id, kind: 'task' })).items).toEqual([]);
});

test('what an agent says is there; what it reports, corrects and retracts adds nothing', async () => {
  const agent = await ownedOne(t, owner);
  const room = await roomOf(t, agent);
  const { token } = agent;
  const send = { token, params: { room }, expect: 201 as const };
  const text = (await t.api.call('sendMessage', { ...send, body: textMessage('hello') })).body;
  if (!('messageId' in text)) throw new Error('the envelope was expected');
  const status = { type: 'status', payload: { state: 'idle' } } as never;
  await t.api.call('sendMessage', { ...send, body: textMessage('', status) });
  const item = {
    ...{ id: `${text.messageId}:sent`, kind: 'message', event: 'sent', at: text.createdAt },
    ...{ agentId: agent.id, roomId: room, messageId: text.messageId, sequence: '1', type: 'text' },
  };
  expect((await feedOf(1)).items).toEqual([item]);
  await t.api.call('reviseMessage', {
    token,
    params: { room, id: text.messageId },
    body: { action: 'retract', clientMessageId: crypto.randomUUID() },
    expect: 201,
  });
  await seedMessages(t, agent, { at: MINUTE, type: 'data' });
  const types = (await feedOf(2)).items.map((found) => found.kind === 'message' && found.type);
  expect(types).toEqual(['text', 'data']);
});

test('attempts of runtimes are there with outcome and usage, as far as they are known', async () => {
  const agent = await ownedOne(t, owner);
  const runtimeId = await runtimeOf(t, agent);
  const open = await seedAttempt(t, runtimeId, { at: MINUTE });
  const silent = await seedAttempt(t, runtimeId, { at: 2 * MINUTE, outcome: 'failed' });
  const told = { at: 3 * MINUTE, outcome: 'handled', usage: [1, 20, 3], took: 500 } as const;
  const done = await seedAttempt(t, runtimeId, told);
  const { items } = await feed();
  expect(items.map((item) => item.kind === 'runtime' && item.deliveryId)).toEqual([
    open,
    silent,
    done,
  ]);
  const [at, later] = items.map((item) => item.at) as [string, string];
  expect(Date.parse(at)).toBeGreaterThan(Date.parse(later));
  expect(items).toMatchObject([
    { outcome: null, finishedAt: null, usage: null },
    { outcome: 'failed', usage: null },
    { outcome: 'handled', usage: { modelCalls: 1, inputTokens: 20, outputTokens: 3 } },
  ]);
  const last = items[2];
  if (last?.kind !== 'runtime') throw new Error('an attempt was expected');
  expect(last).toMatchObject({
    ...{ id: `${done}:claimed:1`, event: 'claimed', runtimeId, version: '1', agentId: agent.id },
  });
  expect(Date.parse(last.finishedAt as string) - Date.parse(last.at)).toBe(500);
});

test('an approval is there when it is requested and again when it is decided', async () => {
  const agent = await ownedOne(t, owner);
  const room = await roomOf(t, agent);
  const id = await seedTask(t, agent, room, { at: 9 * MINUTE });
  const decided = await seedApproval(
    t,
    agent,
    owner,
    { id, room },
    { at: 5 * MINUTE, end: MINUTE },
  );
  const closed = await seedApproval(t, agent, owner, { id, room }, { at: 3 * MINUTE });
  const { items } = await feed({ kind: 'approval' });
  const common = { kind: 'approval', taskId: id, roomId: room, approverId: owner.id };
  expect(items).toMatchObject([
    { ...common, id: `${decided}:decided`, event: 'decided', state: 'rejected' },
    { ...common, id: `${closed}:requested`, event: 'requested', state: 'closed' },
    { ...common, id: `${decided}:requested`, event: 'requested', state: 'rejected' },
  ]);
  expect((await feed()).items).toHaveLength(4);
});

test('a feed can be that of one agent and of one kind', async () => {
  const [one, two] = (await owned(t, owner, 2)) as [TestAgent, TestAgent];
  for (const agent of [one, two]) {
    await seedTask(t, agent, await roomOf(t, agent), { at: MINUTE });
    await seedMessages(t, agent, { at: MINUTE });
    await seedAttempt(t, await runtimeOf(t, agent), { at: MINUTE });
  }
  const found = async (query: Query) =>
    (await feed(query)).items.map(({ agentId, kind }) => `${agentId === one.id} ${kind}`).sort();
  expect(await found({})).toHaveLength(6);
  expect(await found({ agentId: one.id })).toEqual(['true message', 'true runtime', 'true task']);
  expect(await found({ kind: 'message' })).toEqual(['false message', 'true message']);
  expect(await found({ agentId: two.id, kind: 'runtime' })).toEqual(['false runtime']);
  expect(await found({ agentId: two.id, kind: 'approval' })).toEqual([]);
});

test('a page has 25 records unless another limit is asked for', async () => {
  const agent = await ownedOne(t, owner);
  await seedMessages(t, agent, { at: MINUTE, count: 130 });
  expect((await feed()).items).toHaveLength(25);
  expect((await feed({ limit: 1 })).items).toHaveLength(1);
  const page = await feed({ limit: 100 });
  expect(page.items).toHaveLength(100);
  const rest = await feed({ limit: 30, before: page.nextCursor as string });
  expect(rest.items).toHaveLength(30);
  expect(rest.nextCursor).toBeNull();
});

test.each([
  ['a limit of 0', { limit: '0' }, 'query.limit'],
  ['a limit of 101', { limit: '101' }, 'query.limit'],
  ['an unknown kind', { kind: 'file' }, 'query.kind'],
  ['a number for an agent', { agentId: '1234567897' }, 'query.agentId'],
  ['an empty cursor', { before: '' }, 'query.before'],
  ['something that is no cursor', { after: 'now' }, 'query.after'],
  ['a cursor with other characters', { after: `${'A'.repeat(63)}+` }, 'query.after'],
  ['a cursor of nobody', { before: 'A'.repeat(64) }, 'query.before'],
  ['a long cursor', { before: 'A'.repeat(200) }, 'query.before'],
] as const)('%s is malformed', async (_, query, path) => {
  expect(await refused(query)).toEqual([path]);
});

test('an unknown field is malformed', async () => {
  expect(await refused({ cursor: 'x' })).toHaveLength(1);
});

test('both directions at once are refused', async () => {
  const { newestCursor } = await feed();
  expect(await refused({ before: newestCursor, after: newestCursor })).toEqual(['query.after']);
});

test("a cursor works in no other owner's and no other filter's feed", async () => {
  const [agent, sibling] = (await owned(t, owner, 2)) as [TestAgent, TestAgent];
  await seedMessages(t, agent, { at: MINUTE, count: 3 });
  const other = await registerHuman(t);
  const feeds: Record<string, string>[] = [
    {},
    { agentId: agent.id },
    { agentId: sibling.id },
    { kind: 'message' },
    { kind: 'task' },
    { kind: 'message', agentId: agent.id },
  ];
  for (const from of feeds) {
    const { newestCursor } = await feed({ ...from, limit: 1 });
    for (const to of feeds) {
      for (const direction of ['before', 'after'] as const) {
        const query = { ...to, [direction]: newestCursor };
        if (to === from) await feed(query);
        else expect(await refused(query)).toEqual([`query.${direction}`]);
      }
    }
    const query = { after: newestCursor, ...('kind' in from && { kind: from.kind as string }) };
    expect(await refused(query, other)).toEqual(['query.after']);
  }
  // A page may have another size.
  const { nextCursor } = await feed({ limit: 1 });
  expect((await feed({ limit: 50, before: nextCursor as string })).items).toHaveLength(2);
});

test('a cursor that somebody has changed leads nowhere else, and breaks nothing', async () => {
  const agent = await ownedOne(t, owner);
  await seedMessages(t, agent, { at: MINUTE, count: 3 });
  const { newestCursor } = await feed();
  const bytes = Buffer.from(newestCursor, 'base64url');
  for (const [position, expected] of [
    [0x00, 0],
    [0xff, 3],
  ] as const) {
    const changed = Buffer.concat([Buffer.alloc(30, position), bytes.subarray(30)]);
    const before = changed.toString('base64url');
    expect((await feed({ before })).items).toHaveLength(expected);
    expect((await feed({ after: before })).items).toHaveLength(3 - expected);
  }
  const tagged = Buffer.from(bytes);
  tagged[47] = (tagged[47] as number) ^ 1;
  expect(await refused({ before: tagged.toString('base64url') })).toEqual(['query.before']);
});

test("another owner's agent, nobody's and one that does not exist are not found", async () => {
  const mine = await ownedOne(t, owner);
  const foreign = await ownedOne(t, await registerHuman(t));
  const { newestCursor } = await feed({ agentId: mine.id });
  const free = await t.agent();
  for (const agentId of [foreign.id, free.id, owner.id, '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01']) {
    const call = { token: owner.token, query: { agentId }, expect: 404 as const };
    expect((await t.api.call('listActivity', call)).body.error.code).toBe('not_found');
  }
  // The cursor that it had does not help when it is gone.
  await t.database.pool.query('UPDATE identities SET owner_id = NULL WHERE id = $1', [mine.id]);
  const query = { agentId: mine.id, before: newestCursor };
  await t.api.call('listActivity', { token: owner.token, query, expect: 404 });
});

test('an agent takes its records along when it changes hands; a disabled one keeps them', async () => {
  const agent = await ownedOne(t, owner);
  await seedMessages(t, agent, { at: MINUTE });
  const next = await registerHuman(t);
  await t.database.pool.query(
    'UPDATE identities SET owner_id = $2, disabled_at = now() WHERE id = $1',
    [agent.id, next.id],
  );
  expect((await feed()).items).toEqual([]);
  expect((await feed({}, next)).items).toHaveLength(1);
  const session = await openToken(t, next, { scopes: ['account'] });
  expect((await feed({}, { token: session })).items).toHaveLength(1);
});
