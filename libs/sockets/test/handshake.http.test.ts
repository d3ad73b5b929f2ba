import { randomUUID } from 'node:crypto';
import {
  openToken,
  registerHuman,
  seedAgents,
  signIn,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { LIMITS } from '@relayger/protocol';
import { group } from '../../messages/test/support.js';
import { Client, HANDSHAKE, listen, runtimeOf } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi({ SOCKETS: '70' });
  [alice, bob] = (await seedAgents(t, ['alice', 'bob'])) as [TestAgent, TestAgent];
  room = await group(t, alice, bob);
});
afterAll(() => t.close());

/** The code of a refused handshake, the field at fault, or the status of one that was let in. */
async function attempt(
  query: Record<string, string>,
  expect: number,
  options: { token?: string; headers?: Record<string, string | undefined> } = {},
): Promise<string> {
  const { token = bob.token, headers } = options;
  const reply = await t.api.call('openSocket', {
    token: token || undefined,
    query,
    headers: { ...HANDSHAKE, ...headers },
    expect: expect as 400,
  } as Parameters<typeof t.api.call<'openSocket', 400>>[1]);
  const { error } = reply.body as { error?: { code: string; details?: { issues?: object[] } } };
  const [issue] = (error?.details?.issues ?? []) as { path: string }[];
  return issue?.path ?? error?.code ?? String(reply.status);
}

describe('a handshake', () => {
  it('is answered with 101, the rate window and the headers that every reply carries', async () => {
    expect(await attempt({ room }, 101)).toBe('101');
    expect(await attempt({ room, after: '0' }, 101)).toBe('101');
    expect(await attempt({ runtime: await runtimeOf(t, bob) }, 101)).toBe('101');
  });

  it('needs the handshake headers: a plain GET gets 426 and is told what to send', async () => {
    const { body, headers } = await t.api.call('openSocket', {
      token: bob.token,
      query: { room },
      expect: 426,
    });
    expect(body).toMatchObject({ error: { code: 'upgrade_required' } });
    expect(headers).toMatchObject({ upgrade: 'websocket', 'sec-websocket-version': '13' });
    const old = { 'sec-websocket-version': '7' };
    expect(await attempt({ room }, 426, { headers: old })).toBe('upgrade_required');
    const other = { upgrade: 'h2c' };
    expect(await attempt({ room }, 426, { headers: other })).toBe('upgrade_required');
    const key = { 'sec-websocket-key': 'short' };
    expect(await attempt({ room }, 400, { headers: key })).toBe('header.sec-websocket-key');
  });

  it('has no half-open end: after a refusal the connection is closed', async () => {
    await expect(listen(t, bob, randomUUID())).rejects.toThrow('Unexpected server response: 404');
  });

  it('takes exactly one of room and runtime, and after with room only', async () => {
    const runtime = await runtimeOf(t, bob);
    expect(await attempt({}, 400)).toBe('query');
    expect(await attempt({ room, runtime }, 400)).toBe('query');
    expect(await attempt({ runtime, after: '0' }, 400)).toBe('query.after');
    expect(await attempt({ room, after: '-1' }, 400)).toBe('query.after');
    // A cursor of another room would listen in silence until this one reaches it.
    expect(await attempt({ room, after: '100000' }, 400)).toBe('query.after');
    expect(await attempt({ room, after: '' }, 400)).toBe('query.after');
    expect(await attempt({ room, after: '9223372036854775808' }, 400)).toBe('query.after');
    expect(await attempt({ room: 'general' }, 400)).toBe('query.room');
    expect(await attempt({ room, limit: '5' }, 400)).toBe('query');
    for (const path of [`room=${room}&room=${room}`, `runtime=x&room=${room}`]) {
      const headers = HANDSHAKE;
      const { status } = await t.api.raw('GET', `/v1/ws?${path}`, { token: bob.token, headers });
      expect(status).toBe(400);
    }
  });

  it('takes the token from the Authorization header only', async () => {
    for (const name of ['token', 'access_token']) {
      expect(await attempt({ room, [name]: bob.token }, 400)).toBe('token_in_query');
      expect(await attempt({ room, [name]: bob.token }, 400, { token: '' })).toBe('token_in_query');
    }
    expect(await attempt({ room }, 401, { token: '' })).toBe('unauthorized');
    expect(await attempt({ room }, 401, { token: 'rly_wrong' })).toBe('unauthorized');
    const expired = await openToken(t, bob, { expiresIn: -1 });
    const revoked = await openToken(t, bob, { revoked: true });
    for (const token of [expired, revoked])
      expect(await attempt({ room }, 401, { token })).toBe('unauthorized');
    const person = await registerHuman(t);
    const headers = await signIn(t, person);
    expect(await attempt({ room }, 401, { token: '', headers })).toBe('unauthorized');
  });

  it('comes without an Origin, or with exactly the own one', async () => {
    for (const origin of ['https://evil.example', 'null', `${t.origin}.evil.example`, ''])
      expect(await attempt({ room }, 403, { headers: { origin } })).toBe('origin_not_allowed');
    expect(await attempt({ room }, 101, { headers: { origin: t.origin } })).toBe('101');
  });

  it('needs the read scope', async () => {
    const token = await openToken(t, bob, { scopes: ['write', 'rooms'] });
    expect(await attempt({ room }, 403, { token })).toBe('insufficient_scope');
    expect(
      await attempt({ room }, 101, { token: await openToken(t, bob, { scopes: ['read'] }) }),
    ).toBe('101');
  });

  it('shows nobody whether a room exists that it may not read', async () => {
    const [stranger] = (await seedAgents(t, ['stranger'])) as [TestAgent];
    expect(await attempt({ room }, 404, { token: stranger.token })).toBe('not_found');
    expect(await attempt({ room: randomUUID() }, 404)).toBe('not_found');
    const elsewhere = await openToken(t, bob, { roomIds: [randomUUID()] });
    expect(await attempt({ room }, 404, { token: elsewhere })).toBe('not_found');
    const here = await openToken(t, bob, { roomIds: [room] });
    expect(await attempt({ room }, 101, { token: here })).toBe('101');
  });

  it('opens runtimes of the own agent only', async () => {
    const runtime = await runtimeOf(t, alice, 'hers');
    expect(await attempt({ runtime }, 404)).toBe('not_found');
    expect(await attempt({ runtime: randomUUID() }, 404)).toBe('not_found');
    const person = await registerHuman(t);
    expect(await attempt({ runtime }, 403, { token: person.token })).toBe('agent_only');
  });

  it('is refused when an identity, or the process, has as many sockets as it may have', async () => {
    const [many, other] = (await seedAgents(t, ['many', 'other'])) as [TestAgent, TestAgent];
    const theirs = await group(t, many, other);
    const open: Client[] = [];
    for (let i = 0; i < LIMITS.sockets; i++) open.push(await listen(t, many, theirs));
    expect(await attempt({ room: theirs }, 429, { token: many.token })).toBe('too_many_sockets');
    // The other six of the 70.
    for (let i = LIMITS.sockets; i < 70; i++) open.push(await listen(t, other, theirs));
    expect(await attempt({ room: theirs }, 503, { token: other.token })).toBe('unavailable');
    await Promise.all(open.map((client) => client.close()));
    expect(await attempt({ room: theirs }, 101, { token: many.token })).toBe('101');
  });

  it('counts as a call of the rate window', async () => {
    const strict = await t.replica({ REQUESTS_PER_MINUTE: '3' });
    const [agent] = (await seedAgents(t, ['frequent'])) as [TestAgent];
    const query = { room: randomUUID() };
    const call = (expect: 404 | 429) =>
      strict.api.call('openSocket', { token: agent.token, query, headers: HANDSHAKE, expect });
    for (let i = 0; i < 3; i++) await call(404);
    expect((await call(429)).body).toMatchObject({ error: { code: 'rate_limited' } });
    await strict.close();
  });

  it('is the only upgrade there is: elsewhere the header changes nothing', async () => {
    const headers = HANDSHAKE;
    const reply = await t.api.call('getMe', { token: bob.token, headers, expect: 200 });
    expect(reply.body.id).toBe(bob.id);
    const body = { kind: 'agent' as const };
    await t.api.call('register', {
      headers: { connection: 'Upgrade', upgrade: 'h2c' },
      body,
      expect: 201,
    });
    await t.api.call('getHealth', { headers, expect: 200 });
  });
});
