import { createHash } from 'node:crypto';
import { disable, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { RuntimeDelivery } from '@relayger/protocol';
import {
  ask,
  claim,
  endLeases,
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
} from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

interface Scene {
  asker: TestAgent;
  worker: TestAgent;
  room: string;
  id: string;
  job: RuntimeDelivery;
}

/** A leased job, a second one behind it, and a note about the room. */
async function scene(inGroup: boolean): Promise<Scene> {
  const { asker, worker } = await pair(t);
  const room = inGroup ? await group(t, asker, worker) : (await ask(t, asker, worker)).room;
  const more = { mentions: [worker.id] };
  if (inGroup) await say(t, asker, room, question('first', more));
  await say(t, asker, room, question('second', more));
  const { id } = await register(t, worker, { policy: { concurrency: 2 } });
  const job = await take(t, worker, id);
  const { token } = worker;
  const body = { room, key: 'k', text: 't', version: 0, sourceMessageIds: [job.messageId] };
  await t.api.call('writeRuntimeNote', { token, params: { id }, body, expect: 201 });
  return { asker, worker, room, id, job };
}

const contact = (
  action: 'block' | 'unblock' | 'remove' | 'request' | 'accept',
  who: TestAgent,
  other: TestAgent,
) =>
  t.api.raw('POST', `/v1/contacts/${other.number}/${action}`, {
    token: who.token,
    body: {},
    expect: 200,
  });

const leave = (who: TestAgent, room: string) =>
  t.api.call('leaveRoom', { token: who.token, params: { room }, body: {}, expect: 200 });

const ENDS: [string, boolean, (scene: Scene) => Promise<unknown>][] = [
  ['the worker has left', true, ({ worker, room }) => leave(worker, room)],
  [
    'the worker was removed',
    true,
    ({ asker, worker, room }) =>
      t.api.call('removeMember', {
        token: asker.token,
        params: { room, identity: worker.id },
        expect: 200,
      }),
  ],
  [
    'the asker has blocked the worker',
    false,
    ({ asker, worker }) => contact('block', asker, worker),
  ],
  [
    'the worker has blocked the asker',
    false,
    ({ asker, worker }) => contact('block', worker, asker),
  ],
  ['the friendship has ended', false, ({ asker, worker }) => contact('remove', asker, worker)],
];

test.each(ENDS)(
  'once %s, nothing of the room is given out, renewed, stored or read',
  async (_name, inGroup, end) => {
    const scenery = await scene(inGroup);
    const { worker, room, id, job } = scenery;
    await end(scenery);
    const { token } = worker;
    const params = { id };
    expect(await claim(t, worker, id)).toBeNull();
    expect(await refusedHeartbeat(t, worker, id, job, { expect: 404 })).toBe('not_found');
    const note = { key: 'other', text: 't', version: 0, sourceMessageIds: [] };
    for (const report of [
      {},
      { outcome: 'failed' },
      { reply: 'no' },
      { note },
      { reply: 'no', note },
    ])
      expect(await refusedFinish(t, worker, id, job, { expect: 404, ...report })).toBe('not_found');
    await t.api.call('listRuntimeNotes', { token, params, query: { room }, expect: 404 });
    await t.api.call('writeRuntimeNote', { token, params, body: { room, ...note }, expect: 404 });
    expect(await states(t, worker, id)).toEqual([]);
    await endLeases(t, id);
    expect(await claim(t, worker, id)).toBeNull();
  },
);

test('when the contact is there again, the work goes on', async () => {
  const { asker, worker, room, id, job } = await scene(false);
  await contact('block', worker, asker);
  await endLeases(t, id);
  expect(await claim(t, worker, id)).toBeNull();
  await contact('unblock', worker, asker);
  expect(await claim(t, worker, id)).toBeNull();
  await contact('request', worker, asker);
  await contact('accept', asker, worker);
  const again = await take(t, worker, id);
  expect(again).toMatchObject({ id: job.id, attempts: 2 });
  await finish(t, worker, id, again, { reply: 'here I am' });
  const { token } = worker;
  const notes = await t.api.call('listRuntimeNotes', {
    token,
    params: { id },
    query: { room },
    expect: 200,
  });
  expect(notes.body).toHaveLength(1);
});

test('a report that was stored is repeated after the contact has ended', async () => {
  const { asker, worker, id, job } = await scene(false);
  const first = await finish(t, worker, id, job, { reply: 'stored' });
  await contact('block', asker, worker);
  expect(await finish(t, worker, id, job, { reply: 'stored' })).toEqual(first);
});

test('a revoked token does nothing more with its lease, and another one of the agent takes over', async () => {
  const { worker, id, job } = await scene(false);
  const other = await tokenFor(t, worker);
  const hash = createHash('sha256').update(worker.token).digest();
  await t.database.pool.query('UPDATE access_tokens SET revoked_at = now() WHERE hash = $1', [
    hash,
  ]);
  const options = { token: worker.token, params: { id }, expect: 401 as const };
  await t.api.call('claimRuntimeJob', { ...options, body: {} });
  await t.api.call('heartbeatRuntimeJob', { ...options, body: leaseOf(job) });
  const body = { ...leaseOf(job), outcome: 'handled' as const };
  await t.api.call('finishRuntimeJob', { ...options, body });
  const query = { room: job.message.conversationId };
  await t.api.call('listRuntimeNotes', { ...options, query });
  // Leases belong to the agent.
  await finish(t, other, id, job);
});

test('a disabled agent does nothing more', async () => {
  const { worker, id, job } = await scene(false);
  await disable(t, worker);
  const options = { token: worker.token, params: { id }, expect: 401 as const };
  await t.api.call('claimRuntimeJob', { ...options, body: {} });
  await t.api.call('heartbeatRuntimeJob', { ...options, body: leaseOf(job) });
});

test('a token that may not write neither claims nor reports', async () => {
  const { worker, id, job } = await scene(false);
  const { token } = await tokenFor(t, worker, { scopes: ['read'] });
  const options = { token, params: { id }, expect: 403 as const };
  await t.api.call('claimRuntimeJob', { ...options, body: {} });
  await t.api.call('finishRuntimeJob', {
    ...options,
    body: { ...leaseOf(job), outcome: 'handled' },
  });
});

test('a token limited to rooms works in those rooms only, and passes nothing of the others', async () => {
  const { asker, worker } = await pair(t);
  const [inside, outside] = [await group(t, asker, worker), await group(t, asker, worker)];
  const more = { mentions: [worker.id] };
  await say(t, asker, outside, question('out', more));
  await say(t, asker, inside, question('in', more));
  const narrow = await tokenFor(t, worker, { roomIds: [inside] });
  const none = await tokenFor(t, worker, { roomIds: [] });
  const { id } = await register(t, narrow, { policy: { concurrency: 2 } });
  expect(await claim(t, none, id)).toBeNull();
  const job = await take(t, narrow, id);
  expect(job.message.conversationId).toBe(inside);
  expect(await claim(t, narrow, id)).toBeNull();
  const other = await take(t, worker, id);
  expect(other.message.conversationId).toBe(outside);

  expect(await refusedHeartbeat(t, narrow, id, other, { expect: 404 })).toBe('not_found');
  expect(await refusedFinish(t, narrow, id, other, { expect: 404 })).toBe('not_found');
  expect(await refusedFinish(t, narrow, id, other, { expect: 404, reply: 'no' })).toBe('not_found');
  expect(await states(t, narrow, id)).toEqual(['leased']);
  const { token } = narrow;
  const query = { room: outside };
  await t.api.call('listRuntimeNotes', { token, params: { id }, query, expect: 404 });
  const note = { room: outside, key: 'k', text: 't', version: 0, sourceMessageIds: [] };
  await t.api.call('writeRuntimeNote', { token, params: { id }, body: note, expect: 404 });
  await finish(t, narrow, id, job, { reply: 'inside' });
  await finish(t, worker, id, other);
  expect(await refusedFinish(t, narrow, id, other, { expect: 404 })).toBe('not_found');
  expect(await states(t, worker, id)).toEqual(['handled', 'handled']);
});

test('a job of another agent is not found, whatever one knows of it', async () => {
  const { worker, id, job } = await scene(false);
  const { asker: stranger } = await pair(t);
  const own = await register(t, stranger);
  for (const runtime of [id, own.id]) {
    expect(await refusedHeartbeat(t, stranger, runtime, job, { expect: 404 })).toBe('not_found');
    expect(await refusedFinish(t, stranger, runtime, job, { expect: 404 })).toBe('not_found');
    const note = { key: 'k', text: 't', version: 0, sourceMessageIds: [] };
    expect(await refusedFinish(t, stranger, runtime, job, { expect: 404, note })).toBe('not_found');
  }
  await finish(t, worker, id, job);
});
