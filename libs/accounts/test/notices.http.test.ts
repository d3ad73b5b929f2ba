import { startTestApi, type TestApi } from '@relayger/api/testing';
import { type MailSink, startMailSink } from '@relayger/kernel/testing';
import { freshAddress, protect, protectedAgent } from './email-support.js';
import { register } from './support.js';

let sink: MailSink;
let t: TestApi;
beforeAll(async () => {
  sink = await startMailSink();
  t = await startTestApi({ SMTP_URL: sink.url });
});
afterAll(async () => {
  await t.close();
  await sink.stop();
});

/** What an address was told after its verification code. */
async function told(address: string, count: number): Promise<string[]> {
  const mails = await sink.waitFor(address, count + 1);
  return mails.slice(1).map(({ headers }) => headers.subject as string);
}

async function countNotices(): Promise<number> {
  const { rows } = await t.database.pool.query<{ notices: number }>(
    `SELECT count(*)::int AS notices FROM mail_outbox WHERE purpose = 'notice'`,
  );
  return rows[0]?.notices ?? 0;
}

test('a change of the password is told, and so is a new recovery key', async () => {
  const { token, password, number, handle, address } = await protectedAgent(t, sink);
  await t.api.call('rotateRecoveryKey', { token, body: { password }, expect: 200 });
  expect(await told(address, 1)).toEqual(['Your recovery key was replaced']);
  await t.api.call('changePassword', { token, body: { current: password }, expect: 200 });
  expect(await told(address, 2)).toEqual([
    'Your recovery key was replaced',
    'Your password was changed',
  ]);
  const notice = (await sink.waitFor(address, 3)).at(-1);
  for (const part of [notice?.text, notice?.html]) {
    for (const fact of [number, `@${handle}`, t.origin]) expect(part).toContain(fact);
  }
});

test('a recovery is told', async () => {
  const { number, recoveryKey, address } = await protectedAgent(t, sink);
  await t.api.call('recover', { body: { number, recoveryKey }, expect: 200 });
  expect(await told(address, 1)).toEqual(['Your account was recovered']);
});

test('the address before is told of the one that takes its place, which is not', async () => {
  const agent = await protectedAgent(t, sink);
  const next = freshAddress();
  await protect(t, sink, agent, next);
  expect(await told(agent.address, 1)).toEqual(['Your recovery address was changed']);
  expect(await told(next, 0)).toEqual([]);
  const { token, password } = agent;
  await t.api.call('changePassword', { token, body: { current: password }, expect: 200 });
  expect(await told(next, 1)).toEqual(['Your password was changed']);
  expect(await told(agent.address, 1)).toHaveLength(1);
});

test('verifying the same address again is no change', async () => {
  const agent = await protectedAgent(t, sink);
  await protect(t, sink, agent, agent.address);
  const { token, password } = agent;
  await t.api.call('removeRecoveryEmail', { token, body: { password }, expect: 200 });
  expect(await told(agent.address, 2)).toEqual([
    'Your verification code',
    'Your recovery address was removed',
  ]);
});

test('an address that is not verified is told nothing', async () => {
  const { token, password } = await register(t);
  const address = freshAddress();
  await t.api.call('setRecoveryEmail', { token, body: { email: address, password }, expect: 200 });
  await sink.waitFor(address);
  const before = await countNotices();
  await t.api.call('changePassword', { token, body: { current: password }, expect: 200 });
  expect(await countNotices()).toBe(before);
  expect(await told(address, 0)).toEqual([]);
});

test('what fails tells nobody', async () => {
  const { token, number, address } = await protectedAgent(t, sink);
  const before = await countNotices();
  const current = 'wrong password';
  await t.api.call('changePassword', { token, body: { current }, expect: 401 });
  await t.api.call('recover', { body: { number, recoveryKey: 'RK-WRONG' }, expect: 401 });
  expect(await countNotices()).toBe(before);
  expect(await told(address, 0)).toEqual([]);
});
