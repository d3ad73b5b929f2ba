import { randomUUID } from 'node:crypto';
import { startTestApi, type TestApi } from '@relayger/api/testing';
import { Secrets } from '@relayger/kernel';
import { type MailSink, startMailSink } from '@relayger/kernel/testing';
import { freshAddress, protectedAgent } from './email-support.js';
import { register } from './support.js';

let sink: MailSink;
beforeAll(async () => {
  sink = await startMailSink();
});
afterAll(() => sink.stop());

/** Runs `use` with a service of its own. */
async function withApi(
  env: Record<string, string>,
  use: (t: TestApi) => Promise<void>,
): Promise<void> {
  const t = await startTestApi(env);
  try {
    await use(t);
  } finally {
    await t.close();
  }
}

test('registering with an address mails it a code; without one, an address is recommended', () =>
  withApi({ SMTP_URL: sink.url }, async (t) => {
    const email = freshAddress();
    const { body } = await t.api.call('register', { body: { kind: 'agent', email }, expect: 201 });
    expect(body.email).toBe('pending');
    expect(body).not.toHaveProperty('recommended');
    const { token } = body;
    const before = await t.api.call('getSecurity', { token, expect: 200 });
    expect(before.body).toMatchObject({ email: null, pendingEmail: email });
    const code = await sink.codeFor(email);
    await t.api.call('verifyRecoveryEmail', { token, body: { code }, expect: 200 });

    const without = await t.api.call('register', { body: { kind: 'agent' }, expect: 201 });
    expect(without.body.recommended).toEqual(['recovery_email']);
    expect(without.body).not.toHaveProperty('email');
    const { body: discovery } = await t.api.call('getDiscovery', { expect: 200 });
    expect(discovery.registration.emailAvailable).toBe(true);
  }));

test('a registration that fails mails nothing', () =>
  withApi({ SMTP_URL: sink.url }, async (t) => {
    const email = freshAddress();
    await t.agent('taken');
    const body = { kind: 'agent' as const, handle: 'taken', email };
    await t.api.call('register', { body, expect: 409 });
    const { rowCount } = await t.database.pool.query('SELECT FROM mail_outbox');
    expect(rowCount).toBe(0);
  }));

test('once the quota is used up, registering completes and no address is changed', () =>
  withApi({ SMTP_URL: sink.url, MAILS_PER_HOUR: '1' }, async (t) => {
    const [first, second] = [freshAddress(), freshAddress()];
    const pending = await t.api.call('register', {
      body: { kind: 'agent', email: first },
      expect: 201,
    });
    expect(pending.body.email).toBe('pending');
    const limited = await t.api.call('register', {
      body: { kind: 'agent', email: second },
      expect: 201,
    });
    expect(limited.body.email).toBe('limited');
    const { token, password } = limited.body;
    const set = await t.api.call('setRecoveryEmail', {
      token,
      body: { email: second, password },
      expect: 200,
    });
    expect(set.body).toEqual({ ok: true, state: 'limited' });
    const security = await t.api.call('getSecurity', { token, expect: 200 });
    expect(security.body).toMatchObject({ email: null, pendingEmail: null });
    // The right password was no failed attempt, and the first code is as good as before.
    const code = await sink.codeFor(first);
    await t.api.call('verifyRecoveryEmail', {
      token: pending.body.token,
      body: { code },
      expect: 200,
    });
    // A recovery has a quota of its own.
    await t.api.call('requestRecoveryCode', { body: { number: pending.body.number }, expect: 200 });
    await sink.codeFor(first, 2);
    expect(sink.codes(second)).toEqual([]);
  }));

test('one account causes ten verification mails an hour, to whatever addresses, and others go on', () =>
  withApi({ SMTP_URL: sink.url }, async (t) => {
    const first = { kind: 'agent' as const, email: freshAddress() };
    const { body } = await t.api.call('register', { body: first, expect: 201 });
    const { token, password = '' } = body;
    const states: string[] = [];
    for (let i = 0; i < 11; i++) {
      const wanted = { email: freshAddress(), password };
      const reply = await t.api.call('setRecoveryEmail', { token, body: wanted, expect: 200 });
      states.push(reply.body.state);
    }
    expect(states).toEqual([...Array(9).fill('code_sent'), 'limited', 'limited']);
    const other = { kind: 'agent' as const, email: freshAddress() };
    const registered = await t.api.call('register', { body: other, expect: 201 });
    expect(registered.body.email).toBe('pending');
  }));

test('a server without mail says so everywhere', () =>
  withApi({}, async (t) => {
    const email = freshAddress();
    const { body } = await t.api.call('register', { body: { kind: 'agent', email }, expect: 201 });
    expect(body.email).toBe('unavailable');
    expect(body).not.toHaveProperty('recommended');
    const { token, password, number } = body;
    const set = await t.api.call('setRecoveryEmail', {
      token,
      body: { email, password },
      expect: 503,
    });
    expect(set.body.error.code).toBe('email_unavailable');
    const asked = await t.api.call('requestRecoveryCode', { body: { number }, expect: 503 });
    expect(asked.body.error.code).toBe('email_unavailable');
    const mistyped = await t.api.call('requestRecoveryCode', {
      body: { number: '123' },
      expect: 400,
    });
    expect(mistyped.body.error.code).toBe('invalid_number');
    const code = '2222-2222';
    await t.api.call('recover', { body: { number, code }, expect: 401 });
    await t.api.call('verifyRecoveryEmail', { token, body: { code }, expect: 400 });
    await t.api.call('removeRecoveryEmail', { token, body: { password }, expect: 200 });
    const security = await t.api.call('getSecurity', { token, expect: 200 });
    expect(security.body).toMatchObject({ email: null, recommended: [] });
    const { body: discovery } = await t.api.call('getDiscovery', { expect: 200 });
    expect(discovery.registration.emailAvailable).toBe(false);
  }));

test('while the mail server is down nothing is lost, not even over a restart', () =>
  withApi({}, async (t) => {
    const server = await startMailSink();
    const SMTP_URL = server.url;
    const before = await t.replica({ SMTP_URL });
    const agent = await protectedAgent({ ...t, api: before.api }, server);
    await server.stop();
    const { number } = agent;
    await before.api.call('requestRecoveryCode', { body: { number }, expect: 200 });
    const waiting = async () => {
      const { rows } = await t.database.pool.query<{ attempts: number }>(
        `SELECT attempts FROM mail_outbox WHERE due_at > now() + interval '50 seconds' AND due_at < now() + interval '1 minute'`,
      );
      return rows.length === 1;
    };
    while (!(await waiting())) await new Promise((resolve) => setTimeout(resolve, 20));
    await before.close();

    await server.start();
    await t.database.pool.query(
      "UPDATE mail_outbox SET due_at = now() - interval '1 second' WHERE due_at IS NOT NULL",
    );
    const after = await t.replica({ SMTP_URL });
    const code = await server.codeFor(agent.address, 2);
    await after.api.call('recover', { body: { number, code }, expect: 200 });
    // The code once, and the notice.
    await server.waitFor(agent.address, 3);
    await after.close();
    expect(server.codes(agent.address)).toHaveLength(2);
    await server.stop();
  }));

test('a request for a code that a process has taken along when it died is answered by the next', () =>
  withApi({}, async (t) => {
    const SMTP_URL = sink.url;
    const one = await t.replica({ SMTP_URL });
    const { number, address } = await protectedAgent({ ...t, api: one.api }, sink);
    await one.close();
    const id = randomUUID();
    const subject = new Secrets(Buffer.alloc(32, 'test')).box('code requests').seal(id, number);
    // Before it one that nobody can read, because it was sealed for another row.
    for (const row of [randomUUID(), id]) {
      await t.database.pool.query(
        `INSERT INTO code_requests (id, purpose, subject, due_at) VALUES ($1, 'recovery', $2, now())`,
        [row, subject],
      );
    }
    const two = await t.replica({ SMTP_URL });
    await sink.codeFor(address, 2);
    await two.close();
  }));

test('neither an address on its way nor a code can be read in the database', () =>
  withApi({}, async (t) => {
    const server = await startMailSink();
    const api = await t.replica({ SMTP_URL: server.url });
    const agent = await protectedAgent({ ...t, api: api.api }, server);
    const [used] = server.codes(agent.address);
    await server.stop();
    await api.api.call('requestRecoveryCode', { body: { number: agent.number }, expect: 200 });
    const { token, password } = agent;
    await api.api.call('changePassword', { token, body: { current: password }, expect: 200 });
    const rows = async (table: string) => {
      const { rows: found } = await t.database.pool.query<{ row: string }>(
        `SELECT ${table}::text AS row FROM ${table}`,
      );
      return found.map(({ row }) => row);
    };
    while ((await rows('email_codes')).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // Bytes are shown in hex.
    const hidden = [agent.address, 'Your recovery code', used as string];
    const spellings = hidden.flatMap((text) => [text, Buffer.from(text).toString('hex')]);
    const outbox = [...(await rows('mail_outbox')), ...(await rows('code_requests'))];
    expect(outbox.length).toBeGreaterThan(1);
    for (const row of outbox) for (const text of spellings) expect(row).not.toContain(text);

    const { rows: codes } = await t.database.pool.query<{ hash: Buffer }>(
      'SELECT hash FROM email_codes',
    );
    expect(codes[0]?.hash).toHaveLength(32);
    await api.close();
  }));

test('two agents of one owner do not see each other through the mail quota', () =>
  withApi({ SMTP_URL: sink.url }, async (t) => {
    const agent = await protectedAgent(t, sink);
    for (let i = 0; i < 10; i++) {
      await t.api.call('requestRecoveryCode', { body: { number: agent.number }, expect: 200 });
    }
    await sink.codeFor(agent.address, 11);
    // Who guesses the address learns nothing from naming it: verifications are counted apart.
    const guesser = await register(t);
    const { token, password } = guesser;
    const set = await t.api.call('setRecoveryEmail', {
      token,
      body: { email: agent.address, password },
      expect: 200,
    });
    expect(set.body.state).toBe('code_sent');
  }));
