import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  openToken,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { createApiClient, startMailSink } from '@relayger/kernel/testing';

// A process of its own, as an operator starts it.
const TOOL = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const SERVER = fileURLToPath(new URL('../../api/dist/main.js', import.meta.url));

let t: TestApi;
let url: string;
beforeAll(async () => {
  t = await startTestApi();
  url = t.database.url;
});
afterAll(() => t.close());

interface Result {
  code: number;
  out: string;
  err: string;
}

function operator(args: string[], env: Record<string, string> = { DATABASE_URL: url }) {
  return new Promise<Result>((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...env } };
    execFile(process.execPath, [TOOL, ...args], options, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err });
    });
  });
}

/** A command that is meant to work: what it printed, and nothing on the side. */
async function run(...args: string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await operator(args);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as Record<string, unknown>;
}

async function audit(subjectId: unknown) {
  const { rows } = await t.database.pool.query(
    'SELECT actor_id, action, reason, details FROM audit_log WHERE subject_id = $1 ORDER BY id',
    [subjectId],
  );
  return rows;
}

const why = ['--reason', 'ticket 4711'];
const systemUser = os.userInfo().username;

test('an administrator is made at the database and works over HTTP', async () => {
  const admin = await run(
    'create-admin',
    '--handle',
    'root',
    '--name',
    'Root',
    '--days',
    '2',
    ...why,
  );
  expect(admin).toEqual({
    id: expect.any(String),
    number: expect.stringMatching(/^[0-9]{10}$/),
    handle: 'root',
    role: 'admin',
    tokenId: expect.any(String),
    token: expect.stringMatching(/^rly_/),
    scopes: ['read', 'admin'],
    roomIds: null,
    expiresAt: expect.any(String),
  });
  const days = (Date.parse(admin.expiresAt as string) - Date.now()) / 86_400_000;
  expect(days).toBeCloseTo(2, 2);
  const token = admin.token as string;
  const users = await t.api.call('listUsers', { token, expect: 200 });
  expect(users.body.items).toMatchObject([
    { handle: 'root', displayName: 'Root', kind: 'human', role: 'admin' },
  ]);
  expect(await audit(admin.id)).toMatchObject([
    { actor_id: null, action: 'identity.create', reason: 'ticket 4711', details: { systemUser } },
    { actor_id: null, action: 'identity.update', details: { role: 'admin', systemUser } },
    { actor_id: null, action: 'token.issue', details: { scopes: ['read', 'admin'] } },
  ]);
});

test('what it ends, running servers hear at once: a wait of the token gets 401', async () => {
  const [agent] = (await seedAgents(t, ['waiter'])) as [TestAgent];
  const tokens = await t.database.pool.query<{ id: string }>(
    'SELECT id FROM access_tokens WHERE identity_id = $1',
    [agent.id],
  );
  const waitUnder = (token: string) => {
    const call = { token, query: { wait: 50 }, expect: 401 as const };
    return t.api.call('readMailbox', call).then(() => performance.now());
  };
  const [one, two] = [waitUnder(agent.token), waitUnder(await openToken(t, agent))];
  await run('revoke-token', '--token', tokens.rows[0]?.id as string, ...why);
  const revoked = performance.now();
  expect((await one) - revoked).toBeLessThan(1_500);
  await run('disable', '--identity', agent.id, ...why);
  const disabled = performance.now();
  expect((await two) - disabled).toBeLessThan(1_500);
});

test('identities and tokens are made, switched off and on again', async () => {
  const made = await run('create-identity', '--kind', 'service', '--handle', 'billing', ...why);
  expect(made).toMatchObject({ kind: 'service', displayName: 'billing', openTokens: 0 });
  const issue = ['issue-token', '--scopes', 'read, write', ...why, '--identity'];
  const byHandle = await run(...issue, '@billing');
  const byNumber = await run(...issue, made.number as string);
  await t.api.call('getMe', { token: byHandle.token as string, expect: 200 });
  await run('revoke-token', '--token', byHandle.tokenId as string, ...why);
  await t.api.call('getMe', { token: byHandle.token as string, expect: 401 });

  const token = byNumber.token as string;
  const me = await t.api.call('getMe', { token, expect: 200 });
  expect(me.body).toMatchObject({ scopes: ['read', 'write'], roomIds: null });
  const off = await run('disable', '--identity', made.id as string, ...why);
  expect(off).toMatchObject({ disabledBy: 'operator', openTokens: 0 });
  await t.api.call('getMe', { token, expect: 401 });
  const on = await run('enable', '--identity', 'billing', ...why);
  expect(on).toMatchObject({ disabledBy: null });
  await t.api.call('getMe', { token, expect: 401 });
  expect((await audit(made.id)).map(({ action }) => action)).toEqual([
    'identity.create',
    'token.issue',
    'token.issue',
    'token.revoke',
    'identity.disable',
    'identity.enable',
  ]);
});

test('a token can be limited to rooms of its identity', async () => {
  const agent = await t.agent();
  const room = await t.api.call('createRoom', {
    token: agent.token,
    body: { name: 'x' },
    expect: 201,
  });
  const issue = ['issue-token', '--identity', agent.number, '--scopes', 'read', ...why];
  const limited = await run(...issue, '--rooms', room.body.id);
  expect(limited.roomIds).toEqual([room.body.id]);
  const foreign = await operator([...issue, '--rooms', agent.id]);
  expect(foreign).toMatchObject({ code: 1, out: '' });
  expect(foreign.err).toContain('must be a room of the identity');
});

test('an address that was checked lets its person in by mail', async () => {
  const sink = await startMailSink();
  const mailing = await t.replica({ SMTP_URL: sink.url });
  const ada = await run('create-identity', '--kind', 'human', '--handle', 'ada', ...why);
  const email = 'Ada@Example.test';
  const verify = ['verify-email', '--email', email, ...why, '--identity'];
  expect(await run(...verify, '@ada')).toEqual({ ok: true });
  await mailing.api.call('sendSignInCode', { body: { email }, expect: 200 });
  const code = await sink.codeFor('ada@example.test');
  const { body } = await mailing.api.call('signInByEmail', { body: { email, code }, expect: 200 });
  expect(body.id).toBe(ada.id);
  // That it was done is recorded, where is not.
  const [, entry] = await audit(ada.id);
  expect(entry).toMatchObject({ action: 'identity.update', details: { fields: ['email'] } });
  expect(JSON.stringify(entry)).not.toMatch(/ada@/i);
  const billing = await operator([...verify, '@billing']);
  expect(billing).toMatchObject({ code: 1, out: '' });
  expect(billing.err).toContain('must be a person');
  await mailing.close();
  await sink.stop();
});

test('the audit log is printed page by page, and that is recorded', async () => {
  const first = await run('audit', '--limit', '2', '--reason', 'yearly export');
  expect(first.items).toMatchObject([
    { action: 'audit.export', reason: 'yearly export', actorId: null },
    { action: expect.any(String) },
  ]);
  const rest = await run('audit', '--limit', '2', '--before', first.next as string, ...why);
  expect(rest.items).toHaveLength(2);
  expect(JSON.stringify([first, rest])).not.toMatch(/rly_|RK-/);
});

test.each([
  [['create-admin', '--handle', 'root', ...why], 'conflict: '],
  [['disable', '--identity', '@nobody', ...why], 'not_found: '],
  [['issue-token', '--identity', '@billing', '--scopes', 'admin', ...why], 'scope_not_allowed: '],
])('%j is refused by the rules of the service', async (args, refusal) => {
  const { code, out, err } = await operator(args);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(new RegExp(`^${refusal}[^\\n]+\\n$`));
});

test('a command line that cannot be used ends with 2 and the way to the help', async () => {
  expect(await operator(['disable', '--identity', '@root'])).toEqual({
    code: 2,
    out: '',
    err: '--reason is required.\nnpm run -s operator -- help shows the commands.\n',
  });
  const { code, out } = await operator(['help'], { DATABASE_URL: 'postgresql://127.0.0.1:1/none' });
  expect(code).toBe(0);
  expect(out).toContain('create-admin');
});

test('settings and databases that cannot be used are named in a line', async () => {
  const wrong = await operator(['audit', ...why], { DATABASE_URL: 'mysql://x' });
  expect(wrong).toEqual({
    code: 1,
    out: '',
    err: 'Correct these settings:\nDATABASE_URL must start with postgresql://\n',
  });
  const away = await operator(['audit', ...why], { DATABASE_URL: 'postgresql://127.0.0.1:1/none' });
  expect(away).toMatchObject({ code: 1, out: '' });
  expect(away.err).toMatch(/^The database cannot be used now: [^\n]+\n$/);
});

test('the embedded database is used while the server runs on it, before it first does, and afterwards', async () => {
  const home = await mkdtemp(path.join(os.tmpdir(), 'relayger-operator-'));
  const env = { DATA_DIR: path.join(home, 'data') };
  let server: ChildProcess | undefined;
  try {
    // Nothing is there yet.
    const made = await operator(['create-admin', '--handle', 'first', ...why], env);
    expect(made).toMatchObject({ code: 0, err: '' });
    const { token } = JSON.parse(made.out) as { token: string };

    server = spawn(process.execPath, [SERVER], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, ...env, PORT: '0', LOG_LEVEL: 'fatal' },
    });
    const [welcome] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const api = createApiClient(/http:\/\/\S+/.exec(welcome.toString())?.[0] as string);
    const users = await api.call('listUsers', { token, expect: 200 });
    expect(users.body.items.map(({ handle }) => handle)).toEqual(['first']);
    const create = ['create-identity', '--kind', 'agent', '--handle', 'second', ...why];
    expect(await operator(create, env)).toMatchObject({ code: 0, err: '' });
    const off = await operator(['disable', '--identity', '@first', ...why], env);
    expect(off.code).toBe(0);
    // The server has not noticed that anybody was beside it, but for what was changed.
    await api.call('listUsers', { token, expect: 401 });
    await api.call('getHealth', { expect: 200 });
    api.close();

    server.kill('SIGTERM');
    await once(server, 'exit');
    server = undefined;
    const log = await operator(['audit', ...why], env);
    expect(log.out).toContain('identity.disable');
  } finally {
    if (server) {
      server.kill('SIGKILL');
      await once(server, 'exit');
    }
    await rm(home, { recursive: true, force: true });
  }
}, 120_000);
