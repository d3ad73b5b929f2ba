import { registerHuman, signIn, startTestApi, type TestApi } from '@relayger/api/testing';
import { type MailSink, startMailSink } from '@relayger/kernel/testing';

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

const NEXT = 'the next password 2027';

test('a person with a verified address hears of a new password and of a recovery, without a secret', async () => {
  const human = await registerHuman(t);
  const address = `verified-${human.handle}@example.test`;
  await t.database.pool.query(
    'INSERT INTO recovery_emails (identity_id, address) VALUES ($1, $2)',
    [human.id, address],
  );
  const headers = await signIn(t, human);
  const changed = await t.api.call('changeHumanPassword', {
    headers,
    body: { email: human.email, password: human.password, newPassword: NEXT },
    expect: 200,
  });
  const recovered = await t.api.call('recoverHuman', {
    body: { email: human.email, recoveryKey: changed.body.recoveryKey, newPassword: `${NEXT}!` },
    expect: 200,
  });
  const mails = await sink.waitFor(address, 2);
  expect(mails.map((mail) => mail.headers.subject)).toEqual([
    'Your password was changed',
    'Your account was recovered',
  ]);
  for (const { text, html } of mails) {
    expect(text).toContain(human.number);
    for (const secret of [NEXT, human.email, human.recoveryKey, recovered.body.recoveryKey]) {
      expect(text + html).not.toContain(secret);
    }
  }
});

test('the address that a person registered with is not verified and hears nothing', async () => {
  const human = await registerHuman(t);
  const body = { email: human.email, recoveryKey: human.recoveryKey, newPassword: NEXT };
  await t.api.call('recoverHuman', { body, expect: 200 });
  const { rows } = await t.database.pool.query('SELECT count(*)::int AS mails FROM mail_outbox');
  expect(rows[0].mails).toBe(2);
});
