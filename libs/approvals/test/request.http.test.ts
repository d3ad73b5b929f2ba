import { randomUUID } from 'node:crypto';
import {
  disable,
  openToken,
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { type RequestApprovalRequest } from '@relayger/protocol';
import {
  approvalOf,
  asking,
  claimed,
  crowd,
  decided,
  endLease,
  expire,
  group,
  hashOf,
  history,
  newReviewer,
  openScene,
  outcome,
  requested,
  type Scene,
  tryDecide,
  tryRequest,
  tryUpdate,
} from './support.js';

let t: TestApi;
let scene: Scene;
beforeAll(async () => {
  t = await startTestApi();
  scene = await openScene(t);
});
afterAll(() => t.close());

/** A file of a room; its bytes are nowhere. */
async function seedFile(
  room: string,
  { id: uploader }: TestAgent,
  state: 'ready' | 'uploading' | 'removed' = 'ready',
): Promise<string> {
  const id = randomUUID();
  await t.database.pool.query(
    `INSERT INTO files (id, room_id, uploader_id, name, size, sha256, object_key, state)
     VALUES ($1, $2, $3, 'a.txt', 1, sha256('a'), $4, $5)`,
    [id, room, uploader, `seeded/${id}`, state],
  );
  return id;
}

test('an agent with a claimed task asks a person; the record binds task, version, person, action and expiry', async () => {
  const { room, worker, reviewer } = scene;
  const lease = await claimed(scene);
  const before = Date.now();
  const made = await requested(scene, lease, { expiresIn: 600 });
  const approval = await approvalOf(scene, made.id);
  expect(approval).toEqual({
    id: made.id,
    taskId: lease.taskId,
    roomId: room,
    requesterId: worker.id,
    approverId: reviewer.id,
    description: 'The result is ready for you to read',
    action: { kind: 'review_result', summary: 'Three pages about the work' },
    version: lease.version,
    payloadHash: made.payloadHash,
    state: 'pending',
    createdAt: approval.createdAt,
    expiresAt: made.expiresAt,
  });
  expect(hashOf(approval)).toBe(made.payloadHash);
  expect(Math.abs(Date.parse(made.expiresAt) - before - 600_000)).toBeLessThan(10_000);
});

test('the room hears of it under the root task, and the person has it pending', async () => {
  const { worker, reviewer, room } = scene;
  const lease = await claimed(scene);
  await t.api.call('readMailbox', {
    token: reviewer.token,
    query: { consume: '1', limit: 100 },
    expect: 200,
  });
  const wait = t.api.call('readMailbox', {
    token: reviewer.token,
    query: { wait: 20 },
    expect: 200,
  });
  const { id } = await requested(scene, lease);
  const event = (await history(scene, worker, room)).at(-1);
  expect(event).toMatchObject({
    type: 'approval_request',
    payload: { approvalId: id },
    sender: { id: worker.id },
    rootTaskId: lease.taskId,
  });
  expect((await wait).body).toEqual([
    expect.objectContaining({
      type: 'approval_request',
      body: { approvalId: id },
      root: lease.taskId,
    }),
  ]);
});

test('a file of the room that is ready can be asked to be published', async () => {
  const { room, worker } = scene;
  const fileId = await seedFile(room, worker);
  for (const action of [
    { kind: 'publish_artifact' as const, fileId },
    { kind: 'publish_artifact' as const, fileId, summary: 'On the blog' },
  ]) {
    const { id } = await requested(scene, await claimed(scene), { action });
    const approval = await approvalOf(scene, id);
    expect(approval.action).toEqual(action);
    expect(hashOf(approval)).toBe(approval.payloadHash);
  }
});

test.each(['uploading', 'removed', 'foreign', 'unknown'] as const)(
  'a file that is %s cannot, and the room hears nothing',
  async (kind) => {
    const { room, worker, coordinator } = scene;
    const lease = await claimed(scene);
    const fileId =
      kind === 'unknown'
        ? randomUUID()
        : kind === 'foreign'
          ? await seedFile(await group(t, coordinator, [worker]), worker)
          : await seedFile(room, worker, kind);
    const action = { kind: 'publish_artifact' as const, fileId };
    const last = (await history(scene, worker, room)).at(-1);
    expect(await tryRequest(scene, asking(scene, lease, { action }))).toBe(
      '400 body.action.fileId',
    );
    expect((await history(scene, worker, room)).at(-1)).toEqual(last);
  },
);

test('a file that a person is asked about stays, although the message with it is retracted', async () => {
  const { room, worker } = scene;
  const files = [await seedFile(room, worker), await seedFile(room, worker)] as const;
  const { body: sent } = await t.api.call('sendMessage', {
    token: worker.token,
    params: { room },
    query: { view: 'receipt' },
    body: {
      schemaVersion: 1,
      type: 'text',
      payload: { text: 'both drafts', attachments: [...files] },
      clientMessageId: randomUUID(),
    },
    expect: 201,
  });
  const action = { kind: 'publish_artifact' as const, fileId: files[0] };
  await requested(scene, await claimed(scene), { action });
  await t.database.pool.query('UPDATE rooms SET stored_bytes = 2 WHERE id = $1', [room]);
  await t.api.call('reviseMessage', {
    token: worker.token,
    params: { room, id: (sent as { id: string }).id },
    body: { action: 'retract', clientMessageId: randomUUID() },
    expect: 201,
  });
  const { rows } = await t.database.pool.query('SELECT id, state FROM files WHERE id = ANY ($1)', [
    files,
  ]);
  expect(Object.fromEntries(rows.map(({ id, state }) => [id, state]))).toEqual({
    [files[0]]: 'ready',
    [files[1]]: 'removed',
  });
});

test.each<[string, object, string]>([
  ['publishes no file', { action: { kind: 'publish_artifact' } }, 'body.action.fileId'],
  ['reviews nothing', { action: { kind: 'review_result' } }, 'body.action.summary'],
  [
    'reviews a file',
    { action: { kind: 'review_result', summary: 'x', fileId: randomUUID() } },
    'body.action',
  ],
  ['pays', { action: { kind: 'pay', summary: 'x' } }, 'body.action.kind'],
  ['does nothing', { action: undefined }, 'body.action'],
  [
    'has an empty summary',
    { action: { kind: 'review_result', summary: '' } },
    'body.action.summary',
  ],
  [
    'has a long summary',
    { action: { kind: 'review_result', summary: 'ä'.repeat(1001) } },
    'body.action.summary',
  ],
  ['says nothing', { description: '' }, 'body.description'],
  ['says too much', { description: 'ä'.repeat(1001) }, 'body.description'],
  ['has a NUL', { description: 'a\u0000' }, 'body.description'],
  ['has half a character', { description: '\ud83d' }, 'body.description'],
  ['is too short', { expiresIn: 59 }, 'body.expiresIn'],
  ['is too long', { expiresIn: 86_401 }, 'body.expiresIn'],
  ['has half a second', { expiresIn: 60.5 }, 'body.expiresIn'],
  ['has a number as version', { version: 1 }, 'body.version'],
  ['has no lease', { leaseOwner: undefined }, 'body.leaseOwner'],
  ['names the person by handle', { approverId: '@somebody' }, 'body.approverId'],
  ['has a hash of its own', { payloadHash: 'a'.repeat(64) }, 'body'],
])('a request that %s is malformed', async (_, change, path) => {
  const lease = { taskId: randomUUID(), version: '1', leaseOwner: randomUUID() };
  expect(await tryRequest(scene, { ...asking(scene, lease), ...change })).toBe(`400 ${path}`);
});

test('the limits themselves are allowed', async () => {
  const long = 'ä'.repeat(1000);
  const action = { kind: 'review_result' as const, summary: long };
  const short = await requested(scene, await claimed(scene), {
    action,
    description: long,
    expiresIn: 60,
  });
  expect((await approvalOf(scene, short.id)).description).toBe(long);
  await requested(scene, await claimed(scene), { expiresIn: 86_400 });
});

test('only an active human of the room can be asked', async () => {
  const { coordinator, worker, room } = scene;
  const lease = await claimed(scene);
  const [gone, left, stranger] = [await newReviewer(t), await newReviewer(t), await newReviewer(t)];
  for (const { id } of [gone, left]) {
    const params = { room, identity: id };
    await t.api.call('addMember', { token: coordinator.token, params, expect: 201 });
  }
  await disable({ database: t.database }, gone);
  await t.api.call('leaveRoom', { token: left.token, params: { room }, body: {}, expect: 200 });
  for (const { id } of [worker, coordinator, gone, left, stranger, { id: randomUUID() }])
    expect(await tryRequest(scene, asking(scene, lease, { approverId: id }))).toBe(
      '400 body.approverId',
    );
});

test('a person without a token that may decide can be asked all the same', async () => {
  const { coordinator, room } = scene;
  const plain = await registerHuman(t);
  const params = { room, identity: plain.id };
  await t.api.call('addMember', { token: coordinator.token, params, expect: 201 });
  const made = await requested(scene, await claimed(scene), { approverId: plain.id });
  expect(await tryDecide(scene, plain.token, made)).toBe('403 insufficient_scope');
});

test('only the assignee may ask, under the lease that it has now', async () => {
  const { coordinator, worker, room } = scene;
  const lease = await claimed(scene);
  const body = asking(scene, lease);
  const [stranger] = (await crowd(t, 1)) as [TestAgent];
  expect(await tryRequest(scene, body, stranger.token)).toBe('404 not_found');
  expect(await tryRequest(scene, body, coordinator.token)).toBe('403 task_assignee_required');
  expect(await tryRequest(scene, { ...body, taskId: randomUUID() })).toBe('404 not_found');
  expect(await tryRequest(scene, { ...body, leaseOwner: randomUUID() })).toBe('409 lease_lost');
  const later = String(Number(lease.version) + 1);
  expect(await tryRequest(scene, { ...body, version: later })).toBe('409 version_conflict');
  const elsewhere = await openToken(t, worker, { roomIds: [] });
  expect(await tryRequest(scene, body, elsewhere)).toBe('404 not_found');
  const narrow = await openToken(t, worker, { scopes: ['read', 'write', 'tasks'] });
  expect(await tryRequest(scene, body, narrow)).toBe('403 insufficient_scope');
  const here = await openToken(t, worker, { scopes: ['approvals'], roomIds: [room] });
  expect(await tryRequest(scene, body, here)).toBe('201');
});

test('a lease that has ended, or a task that has, asks nobody', async () => {
  const late = await claimed(scene);
  await endLease(scene, late);
  expect(await tryRequest(scene, asking(scene, late))).toBe('409 lease_lost');
  const done = await claimed(scene);
  const { lease } = await tryUpdate(scene, done, 'completed');
  expect(await tryRequest(scene, asking(scene, lease))).toBe('409 task_finished');
  const { rows } = await t.database.pool.query('SELECT FROM approvals WHERE task_id = ANY ($1)', [
    [late.taskId, done.taskId],
  ]);
  expect(rows).toEqual([]);
});

test('the same request again answers the same approval, also under a newer lease', async () => {
  const { worker, room } = scene;
  const lease = await claimed(scene);
  const body = asking(scene, lease);
  const made = await requested(scene, lease);
  const again = await t.api.call('requestApproval', { token: worker.token, body, expect: 200 });
  expect(again.body).toEqual(made);
  const { lease: renewed } = await tryUpdate(scene, lease, 'running');
  expect(renewed.version).not.toBe(lease.version);
  expect(await tryRequest(scene, body)).toBe('409 version_conflict');
  const action = Object.fromEntries(Object.entries(body.action).reverse());
  const later = await t.api.raw('POST', '/v1/approvals', {
    token: worker.token,
    body: { ...body, ...renewed, action },
    expect: 200,
  });
  expect(later.body).toEqual(made);
  const told = (await history(scene, worker, room)).filter(
    ({ type, payload }) =>
      type === 'approval_request' && (payload as { approvalId: string }).approvalId === made.id,
  );
  expect(told).toHaveLength(1);
});

test.each<[string, Partial<RequestApprovalRequest>]>([
  ['another action', { action: { kind: 'review_result', summary: 'Four pages' } }],
  ['another description', { description: 'Please read it' }],
  ['another time to decide', { expiresIn: 601 }],
])('%s is refused while one is pending, and gets another hash after it', async (_, change) => {
  const lease = await claimed(scene);
  const first = await requested(scene, lease);
  expect(await tryRequest(scene, asking(scene, lease, change))).toBe('409 approval_pending');
  await decided(scene, first, 'reject');
  const second = await requested(scene, lease, change);
  expect(second.payloadHash).not.toBe(first.payloadHash);
  // The hash of the first says nothing about the second.
  const mixed = { id: second.id, payloadHash: first.payloadHash };
  expect(await tryDecide(scene, scene.reviewer.token, mixed)).toBe('409 approval_hash_mismatch');
});

test('asking again after a decision or an expiry is a new request, with a hash of its own', async () => {
  const lease = await claimed(scene);
  const first = await requested(scene, lease);
  await decided(scene, first, 'reject');
  const second = await requested(scene, lease);
  await expire(scene, second);
  const third = await requested(scene, lease);
  expect(new Set([first, second, third].map(({ payloadHash }) => payloadHash)).size).toBe(3);
  expect((await approvalOf(scene, second.id)).state).toBe('expired');
  expect(await tryDecide(scene, scene.reviewer.token, second)).toBe('409 approval_expired');
});

test('a request whose person has left or was disabled gives way to one for another person', async () => {
  const { coordinator, room } = scene;
  for (const end of ['leave', 'disable'] as const) {
    const other = await newReviewer(t);
    const params = { room, identity: other.id };
    await t.api.call('addMember', { token: coordinator.token, params, expect: 201 });
    const lease = await claimed(scene);
    const first = await requested(scene, lease, { approverId: other.id });
    expect(await tryRequest(scene, asking(scene, lease))).toBe('409 approval_pending');
    if (end === 'disable') await disable(t, other);
    else await t.api.call('removeMember', { token: coordinator.token, params, expect: 200 });
    await requested(scene, lease);
    expect((await approvalOf(scene, first.id)).state).toBe('closed');
    if (end === 'disable') continue;
    await t.api.call('addMember', { token: coordinator.token, params, expect: 201 });
    expect(await tryDecide(scene, other.token, first)).toBe('409 approval_closed');
  }
});

test('of many requests at once one is stored, and its repeats find it', async () => {
  const { worker, room } = scene;
  const lease = await claimed(scene);
  const bodies = Array.from({ length: 20 }, (_, n) =>
    asking(scene, lease, n % 2 ? { description: 'the other one' } : {}),
  );
  const replies = await Promise.all(
    bodies.map((body) => t.api.raw('POST', '/v1/approvals', { token: worker.token, body })),
  );
  const outcomes = replies.map(outcome);
  expect(outcomes.filter((one) => one === '201')).toHaveLength(1);
  expect(outcomes.filter((one) => one === '200')).toHaveLength(9);
  expect(outcomes.filter((one) => one === '409 approval_pending')).toHaveLength(10);
  const ids = new Set(
    replies.filter(({ status }) => status < 300).map(({ body }) => (body as { id: string }).id),
  );
  expect(ids.size).toBe(1);
  const events = (await history(scene, worker, room)).filter(
    ({ type, payload }) =>
      type === 'approval_request' && ids.has((payload as { approvalId: string }).approvalId),
  );
  expect(events).toHaveLength(1);
});
