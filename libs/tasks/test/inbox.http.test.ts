import { openToken, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import {
  cancel,
  claim,
  create,
  crew,
  custom,
  DONE,
  expel,
  get,
  group,
  inbox,
  later,
  order,
  update,
  upTo,
} from './support.js';

let t: TestApi;
let boss: TestAgent;
let worker: TestAgent;
let mate: TestAgent;
let room: string;

beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());
beforeEach(async () => {
  [boss, worker, mate] = (await crew(t, 3)) as [TestAgent, TestAgent, TestAgent];
  room = await group(t, boss, worker, mate);
});

const ids = (tasks: readonly { id: string }[]) => tasks.map(({ id }) => id);

test('the inbox has the open tasks of the caller, what can be claimed first, oldest first', async () => {
  const tasks = [];
  for (const _ of upTo(6)) tasks.push(await create(t, boss, order(room, worker)));
  const [leased, lapsed, queued, done, cancelled, last] = tasks as [
    (typeof tasks)[0],
    (typeof tasks)[0],
    (typeof tasks)[0],
    (typeof tasks)[0],
    (typeof tasks)[0],
    (typeof tasks)[0],
  ];
  await create(t, boss, order(room, mate));
  await create(t, worker, order(room, mate));
  await claim(t, worker, leased);
  await claim(t, worker, lapsed);
  await later(t, lapsed);
  await update(t, worker, await claim(t, worker, done), DONE);
  await cancel(t, boss, cancelled);
  const open = await inbox(t, worker);
  expect(ids(open)).toEqual(ids([lapsed, queued, last, leased]));
  expect(open[1]).toEqual(await get(t, worker, queued));
});

test('the inbox has an address of its own, and takes only what it knows', async () => {
  const task = await create(t, boss, order(room, worker));
  const { token } = worker;
  const alias = await t.api.call('taskInbox', { token, query: {}, expect: 200 });
  const query = { assignee: 'me', state: 'open', limit: 5 } as const;
  const full = await t.api.call('listTasks', { token, query, expect: 200 });
  expect(ids(alias.body)).toEqual([task.id]);
  expect(full.body).toEqual(alias.body);
  for (const wrong of [
    { assignee: boss.id },
    { state: 'completed' },
    { limit: '0' },
    { limit: '101' },
    { room },
  ]) {
    await t.api.call('listTasks', { token, query: wrong, expect: 400 });
  }
  await t.api.call('taskInbox', { token, query: { state: 'open' }, expect: 400 });
  const narrow = await openToken(t, worker, { scopes: ['read', 'write'] });
  await t.api.call('listTasks', { token: narrow, expect: 403 });
  await t.api.call('taskInbox', { token: narrow, expect: 403 });
});

test('the inbox is bounded, and what waits does not hide what can be claimed', async () => {
  await create(t, boss, order(room, worker));
  // A hundred older ones in work, put there at once.
  await t.database.pool.query(
    `INSERT INTO tasks (id, room_id, creator_id, client_task_id, fingerprint, assignee_id, root_id, depth, input, state,
                        lease_owner, lease_until, created_at)
     SELECT id, $1, $2, gen_random_uuid(), sha256('x'), $3, id, 1, '{"operation":"echo","text":"x"}', 'running',
            gen_random_uuid(), now() + interval '1 hour', now() - interval '1 hour'
     FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 100)) AS new`,
    [room, boss.id, worker.id],
  );
  const open = await inbox(t, worker);
  expect(open).toHaveLength(100);
  expect(open[0]?.state).toBe('queued');
  expect(await inbox(t, worker, 3)).toEqual(open.slice(0, 3));
});

test('the inbox ends at what the token may use, and at rooms that one has left', async () => {
  const place = await group(t, boss, worker);
  const here = await create(t, boss, order(room, worker));
  const there = await create(t, boss, order(place, worker));
  expect(ids(await inbox(t, worker))).toEqual(ids([here, there]));
  const restricted = { token: await openToken(t, worker, { roomIds: [place] }) };
  expect(ids(await inbox(t, restricted))).toEqual([there.id]);
  const nowhere = { token: await openToken(t, worker, { roomIds: [] }) };
  expect(await inbox(t, nowhere)).toEqual([]);
  await expel(t, boss, room, worker);
  expect(ids(await inbox(t, worker))).toEqual([there.id]);
});

test('a task is read by every member of its room, with its input, progress and result', async () => {
  const request = custom(room, worker, { data: { to: 'de' } });
  const task = await create(t, boss, request);
  const held = await claim(t, worker, task);
  const told = await update(t, worker, held, { state: 'running', progress: { percent: 10 } });
  for (const who of [boss, worker, mate]) {
    expect(await get(t, who, task)).toMatchObject({
      state: 'running',
      input: request.input,
      progress: { percent: 10 },
    });
  }
  const result = { text: 'Fertig', data: { pages: 3 } };
  await update(t, worker, told, { state: 'completed', result });
  expect(await get(t, mate, task)).toMatchObject({ state: 'completed', result });
});

test('of a task elsewhere nobody learns that it exists', async () => {
  const task = await create(t, boss, order(room, worker));
  const [stranger] = (await crew(t, 1)) as [TestAgent];
  const restricted = await openToken(t, boss, { roomIds: [] });
  for (const token of [stranger.token, restricted]) {
    await t.api.call('getTask', { token, params: { id: task.id }, expect: 404 });
  }
  await expel(t, boss, room, mate);
  await t.api.call('getTask', { token: mate.token, params: { id: task.id }, expect: 404 });
  await t.api.call('getTask', { token: boss.token, params: { id: 'inboxes' }, expect: 400 });
});
