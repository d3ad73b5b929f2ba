import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import {
  ask,
  asked,
  claim,
  endLeases,
  endPauses,
  finish,
  pair,
  refusedFinish,
  refusedHeartbeat,
  register,
  states,
  take,
  upTo,
} from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

const configure = async ({ token }: TestAgent, id: string, version: number, policy: object) =>
  (
    await t.api.call('configureRuntime', {
      token,
      params: { id },
      body: { version, policy },
      expect: 200,
    })
  ).body;

const refused = async ({ token }: TestAgent, id: string, body: unknown, status: number) =>
  (await t.api.call('configureRuntime', { token, params: { id }, body, expect: status as 409 }))
    .body.error.code;

test('a new policy replaces the whole old one and raises the version, and registering names the new one', async () => {
  const { worker } = await pair(t);
  const { token } = worker;
  const policy = { maxAttempts: 5, concurrency: 4 };
  const runtime = await register(t, worker, { policy });
  const changed = await configure(worker, runtime.id, 1, { maxCallsPerHour: 7 });
  expect(changed).toEqual({
    ...runtime,
    version: 2,
    policy: { ...runtime.policy, maxAttempts: 3, concurrency: 1, maxCallsPerHour: 7 },
  });
  const body = { name: runtime.name, from: runtime.from };
  const options = { token, body: { ...body, policy: { maxCallsPerHour: 7 } } };
  expect((await t.api.call('registerRuntime', { ...options, expect: 200 })).body).toEqual(changed);
  await t.api.call('registerRuntime', { token, body: { ...body, policy }, expect: 409 });
});

test('an old version is refused, and of parallel changes one wins', async () => {
  const { worker } = await pair(t);
  const { id } = await register(t, worker);
  const replies = await Promise.all(
    upTo(6).map((n) =>
      t.api.raw('POST', `/v1/runtimes/${id}/configure`, {
        token: worker.token,
        body: { version: 1, policy: { maxCallsPerHour: n } },
      }),
    ),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  expect(await refused(worker, id, { version: 1, policy: {} }, 409)).toBe('version_conflict');
  expect(await refused(worker, id, { version: 3, policy: {} }, 409)).toBe('version_conflict');
});

test.each([
  {},
  { version: 1 },
  { policy: {} },
  { version: '1', policy: {} },
  { version: 0, policy: {} },
  { version: 1, policy: { extra: 1 } },
  { version: 1, policy: { concurrency: 9 } },
])('%j is refused', async (body) => {
  const { worker } = await pair(t);
  const { id } = await register(t, worker);
  expect(await refused(worker, id, body, 400)).toBe('invalid_request');
});

test('nothing is changed while a job is leased', async () => {
  const { worker, id } = await asked(t);
  const job = await take(t, worker, id);
  expect(await refused(worker, id, { version: 1, policy: {} }, 409)).toBe('runtime_busy');
  await finish(t, worker, id, job);
  await configure(worker, id, 1, {});
});

test('whoever held a lease that has ended is fenced, and the job is given out anew', async () => {
  const { worker, id } = await asked(t);
  const late = await take(t, worker, id);
  await endLeases(t, id);
  await configure(worker, id, 1, { maxAttempts: 4 });
  expect(await refusedHeartbeat(t, worker, id, late, { expect: 409 })).toBe('lease_lost');
  expect(await refusedFinish(t, worker, id, late, { expect: 409, reply: 'late' })).toBe(
    'lease_lost',
  );
  const next = await take(t, worker, id);
  expect(next).toMatchObject({ id: late.id, attempts: 2 });
  expect(BigInt(next.version)).toBeGreaterThan(BigInt(late.version));
});

test('jobs that wait are looked at again; what was passed over, handled or dead is not', async () => {
  const { asker, worker } = await pair(t);
  const both = ['questions', 'direct'] as const;
  const { id } = await register(t, worker, { policy: { triggers: [...both], maxAttempts: 2 } });
  for (const n of upTo(2)) await ask(t, asker, worker, `question ${n}`);
  for (const n of upTo(2)) await ask(t, asker, worker, textMessage(`plain ${n}`));
  // The second question fails once and waits for its retry.
  await finish(t, worker, id, await take(t, worker, id));
  await finish(t, worker, id, await take(t, worker, id), { outcome: 'failed' });
  await configure(worker, id, 1, { triggers: ['questions'], maxAttempts: 2 });
  expect(await states(t, worker, id)).toEqual(['handled', 'pending', 'skipped', 'skipped']);
  // Back again: what was skipped stays so.
  await ask(t, asker, worker, textMessage('passed over'));
  await endPauses(t, id);
  const retry = await take(t, worker, id);
  expect(retry.attempts).toBe(2);
  await finish(t, worker, id, retry, { outcome: 'failed' });
  expect(await claim(t, worker, id)).toBeNull();
  await configure(worker, id, 2, { triggers: [...both], maxAttempts: 5 });
  expect(await claim(t, worker, id)).toBeNull();
  expect(await states(t, worker, id)).toEqual(['handled', 'dead_letter', 'skipped', 'skipped']);
  const { id: fresh } = await ask(t, asker, worker, textMessage('fresh'));
  expect((await take(t, worker, id)).messageId).toBe(fresh);
});

test('fewer attempts end jobs that have had them, and a last lease that has ended is not revived by more', async () => {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker, { policy: { maxAttempts: 2 } });
  await ask(t, asker, worker, 'first');
  await finish(t, worker, id, await take(t, worker, id), { outcome: 'failed' });
  await configure(worker, id, 1, { maxAttempts: 1 });
  expect(await states(t, worker, id)).toEqual(['dead_letter']);
  await ask(t, asker, worker, 'second');
  await take(t, worker, id);
  await endLeases(t, id);
  await configure(worker, id, 2, { maxAttempts: 5 });
  expect(await states(t, worker, id)).toEqual(['dead_letter', 'dead_letter']);
  expect(await claim(t, worker, id)).toBeNull();
});

test('the calls of the hour still count after a change', async () => {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker, { policy: { maxCallsPerHour: 2 } });
  for (const n of upTo(4)) await ask(t, asker, worker, `question ${n}`);
  for (const _ of upTo(2)) await finish(t, worker, id, await take(t, worker, id));
  expect(await claim(t, worker, id)).toBeNull();
  await configure(worker, id, 1, { maxCallsPerHour: 3 });
  await finish(t, worker, id, await take(t, worker, id));
  expect(await claim(t, worker, id)).toBeNull();
});

test('changes race with claims: a job is never leased under a policy that does not want it', async () => {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker, {
    policy: { triggers: ['direct'], maxCallsPerHour: 1000 },
  });
  let version = 1;
  for (const n of upTo(8)) {
    await ask(t, asker, worker, textMessage(`plain ${n}`));
    const change = t.api.raw('POST', `/v1/runtimes/${id}/configure`, {
      token: worker.token,
      body: { version, policy: { triggers: ['questions'], maxCallsPerHour: 1000 } },
    });
    const [{ status }, job] = await Promise.all([change, claim(t, worker, id)]);
    if (status === 200) {
      expect(job).toBeNull();
      version = (
        await configure(worker, id, version + 1, { triggers: ['direct'], maxCallsPerHour: 1000 })
      ).version;
    } else {
      expect(status).toBe(409);
      if (job) await finish(t, worker, id, job);
    }
  }
});
