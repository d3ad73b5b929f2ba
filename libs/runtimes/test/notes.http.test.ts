import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import {
  ask,
  finish,
  group,
  pair,
  question,
  refusedFinish,
  register,
  say,
  take,
  upTo,
} from './support.js';

let t: TestApi;
let asker: TestAgent;
let worker: TestAgent;
let room: string;
let id: string;
let sources: string[];

beforeAll(async () => {
  t = await startTestApi();
  ({ asker, worker } = await pair(t));
  ({ room } = await ask(t, asker, worker));
  sources = [];
  for (const n of upTo(9)) sources.push((await ask(t, asker, worker, `${n}`)).id);
  ({ id } = await register(t, worker));
});
afterAll(() => t.close());

const draft = (key: string, more: object = {}) => ({
  room,
  key,
  text: `about ${key}`,
  version: 0,
  sourceMessageIds: [sources[0] as string],
  ...more,
});

const write = async (body: ReturnType<typeof draft>, status: 200 | 201 = 201, runtime = id) =>
  (
    await t.api.call('writeRuntimeNote', {
      token: worker.token,
      params: { id: runtime },
      body,
      expect: status,
    })
  ).body;

async function refused(body: unknown, status = 409): Promise<string> {
  const options = { token: worker.token, params: { id }, body, expect: status as 409 };
  const { error } = (await t.api.call('writeRuntimeNote', options)).body;
  const [issue] = (error.details as { issues?: { path: string }[] } | undefined)?.issues ?? [];
  return issue?.path ?? error.code;
}

const list = async (query: object = {}, runtime = id, { token }: TestAgent = worker) =>
  (
    await t.api.call('listRuntimeNotes', {
      token,
      params: { id: runtime },
      query: { room, ...query },
      expect: 200,
    })
  ).body;

test('a note is created, changed under its version, and read', async () => {
  const created = await write(draft('plan', { sourceMessageIds: sources.slice(0, 8) }));
  expect(created).toEqual({
    ...draft('plan'),
    sourceMessageIds: sources.slice(0, 8),
    version: 1,
    createdAt: expect.any(String),
    updatedAt: created.createdAt,
  });
  const changed = await write(
    draft('plan', { text: 'ü'.repeat(2000), version: 1, sourceMessageIds: [] }),
    200,
  );
  expect(changed).toMatchObject({
    version: 2,
    text: 'ü'.repeat(2000),
    sourceMessageIds: [],
    createdAt: created.createdAt,
  });
  expect(await list()).toEqual([changed]);
});

test('a stale version and a second creation are refused', async () => {
  await write(draft('stale'));
  expect(await refused(draft('stale'))).toBe('version_conflict');
  expect(await refused(draft('stale', { version: 2 }))).toBe('version_conflict');
  expect(await refused(draft('unknown', { version: 1 }))).toBe('version_conflict');
  await write(draft('stale', { version: 1 }), 200);
  expect(await refused(draft('stale', { version: 1 }))).toBe('version_conflict');
});

test.each<[string, () => object, string]>([
  ['a source of another room', () => ({ sourceMessageIds: [id] }), 'body.sourceMessageIds'],
  [
    'a source twice',
    () => ({ sourceMessageIds: [sources[0], sources[0]] }),
    'body.sourceMessageIds',
  ],
  ['nine sources', () => ({ sourceMessageIds: sources }), 'body.sourceMessageIds'],
  ['no list of sources', () => ({ sourceMessageIds: undefined }), 'body.sourceMessageIds'],
  ['4001 bytes', () => ({ text: `${'ü'.repeat(2000)}x` }), 'body.text'],
  ['no text', () => ({ text: '' }), 'body.text'],
  ['an empty key', () => ({ key: '' }), 'body.key'],
  ['a key of two lines', () => ({ key: 'a\nb' }), 'body.key'],
  ['a key of 65 bytes', () => ({ key: 'k'.repeat(65) }), 'body.key'],
  ['a negative version', () => ({ version: -1 }), 'body.version'],
  ['a version as text', () => ({ version: '0' }), 'body.version'],
  ['an unknown field', () => ({ extra: 1 }), 'body'],
])('a note with %s is refused', async (_name, change, path) => {
  expect(await refused({ ...draft('bad'), ...change() }, 400)).toBe(path);
  expect((await list({ limit: 20 })).some(({ key }) => key === 'bad')).toBe(false);
});

test('a real message of another room of the worker is no source either', async () => {
  const other = await say(t, asker, await group(t, asker, worker), question('elsewhere'));
  expect(await refused(draft('bad', { sourceMessageIds: [sources[0], other.id] }), 400)).toBe(
    'body.sourceMessageIds',
  );
});

test('notes belong to one runtime and one room', async () => {
  const other = await register(t, worker, { name: 'other' });
  const theirs = await register(t, asker);
  const elsewhere = await group(t, asker, worker);
  await write(draft('mine'), 201, other.id);
  expect(await list({}, other.id)).toMatchObject([{ key: 'mine' }]);
  expect(await list({ room: elsewhere }, other.id)).toEqual([]);
  expect(await list({}, theirs.id, asker)).toEqual([]);
  const options = { token: asker.token, params: { id: other.id }, expect: 404 as const };
  await t.api.call('listRuntimeNotes', { ...options, query: { room } });
  await t.api.call('writeRuntimeNote', { ...options, body: draft('theirs') });
  const { token } = worker;
  await t.api.call('listRuntimeNotes', { token, params: { id }, expect: 400 });
  await t.api.call('listRuntimeNotes', { token, params: { id }, query: { room: id }, expect: 404 });
  await t.api.call('listRuntimeNotes', {
    token,
    params: { id },
    query: { room, limit: 21 },
    expect: 400,
  });
});

test('a runtime has 64 notes over all its rooms, exactly so under parallel writes, and they are paged', async () => {
  const { id: full } = await register(t, worker, { name: 'full' });
  const elsewhere = await group(t, asker, worker);
  await write(draft('far', { room: elsewhere, sourceMessageIds: [] }), 201, full);
  const replies = await Promise.all(
    upTo(70).map((n) =>
      t.api.raw('POST', `/v1/runtimes/${full}/notes`, {
        token: worker.token,
        body: draft(`k${n}`),
      }),
    ),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(63);
  const failed = replies.filter(({ status }) => status !== 201);
  expect(
    new Set(failed.map(({ body }) => (body as { error: { code: string } }).error.code)),
  ).toEqual(new Set(['runtime_note_limit']));
  const params = { id: full };
  const body = draft('one more');
  await t.api.call('writeRuntimeNote', { token: worker.token, params, body, expect: 409 });
  // Nor does a report bring one more in; the reply goes with it.
  const job = await take(t, worker, full);
  const note = { key: 'one more', text: 't', version: 0, sourceMessageIds: [] };
  const report = { expect: 409, reply: 'lost', note };
  expect(await refusedFinish(t, worker, full, job, report)).toBe('runtime_note_limit');
  await finish(t, worker, full, job);
  const keys: string[] = [];
  for (;;) {
    const page = await list({ after: keys.at(-1) }, full);
    keys.push(...page.map(({ key }) => key));
    if (page.length < 20) break;
  }
  expect(new Set(keys).size).toBe(63);
  // The one changed last comes first; changing needs no room.
  await write(draft(keys.at(-1) as string, { version: 1 }), 200, full);
  expect(await list({ limit: 1 }, full)).toMatchObject([{ key: keys.at(-1), version: 2 }]);
});

test('of parallel writes of one version one wins', async () => {
  const attempts = (version: number) =>
    Promise.all(
      upTo(6).map((n) =>
        t.api.raw('POST', `/v1/runtimes/${id}/notes`, {
          token: worker.token,
          body: draft('contested', { version, text: `${n}` }),
        }),
      ),
    );
  for (const [version, good] of [
    [0, 201],
    [1, 200],
  ] as const) {
    const statuses = (await attempts(version)).map(({ status }) => status);
    expect(statuses.filter((status) => status === good)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(5);
  }
});
