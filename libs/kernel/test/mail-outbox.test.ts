import type { Database } from '@relayger/kernel';
import { type MailSink, startMailSink, type TestDatabase } from '@relayger/kernel/testing';
import {
  letter,
  type MailProcess,
  mailProcess,
  openDatabase,
  post,
  rowsOf,
  until,
} from './mail-support.js';

let sink: MailSink;
let database: Database;
let test_: TestDatabase;
beforeEach(async () => {
  sink = await startMailSink();
  ({ database, test: test_ } = await openDatabase());
});
const started: MailProcess[] = [];
afterEach(async () => {
  for (const { delivery } of started.splice(0)) await delivery.onApplicationShutdown();
  await database.close();
  await test_.drop();
  await sink.stop();
});

function start(env: Record<string, string> = {}): MailProcess {
  const process = mailProcess({ database, env: { SMTP_URL: sink.url, ...env } });
  process.delivery.onApplicationBootstrap();
  started.push(process);
  return process;
}

test('a mail leaves within a second of the commit and takes its content along', async () => {
  const process = start({ MAIL_FROM: 'The Relay <relay@example.test>' });
  const began = performance.now();
  expect(await post(process, database, letter('a@example.test'))).toBe('queued');
  const [mail] = await sink.waitFor('a@example.test');
  expect(performance.now() - began).toBeLessThan(1000);
  expect(mail).toMatchObject({
    from: 'relay@example.test',
    to: ['a@example.test'],
    text: expect.stringContaining('The text of the letter'),
    html: expect.stringContaining('<p>The text of the letter</p>'),
  });
  const [row] = await rowsOf(database);
  expect(mail?.headers).toMatchObject({
    from: 'The Relay <relay@example.test>',
    to: 'a@example.test',
    subject: 'A subject of no interest',
    'message-id': `<${row?.id}@example.test>`,
    'auto-submitted': 'auto-generated',
  });
  await until(async () => (await rowsOf(database))[0]?.content === null);
  expect((await rowsOf(database))[0]).toMatchObject({ attempts: 1, due_in: null });
});

test('a mail of a transaction that is rolled back never leaves', async () => {
  const process = start();
  const failing = database.transaction(async (sql) => {
    await process.outbox.enqueue(sql, letter('never@example.test'));
    throw new Error('changed its mind');
  });
  await expect(failing).rejects.toThrow('changed its mind');
  await post(process, database, letter('b@example.test'));
  await sink.waitFor('b@example.test');
  expect(sink.mails.map(({ to }) => to)).toEqual([['b@example.test']]);
});

test('what waits in the database cannot be read there', async () => {
  const process = mailProcess({ database, env: { SMTP_URL: sink.url }, sends: false });
  await post(process, database, letter('secret-reader@example.test'));
  await post(process, database, letter('secret-reader@example.test'));
  const { rows } = await database.pool.query<{ row: string; content: Buffer }>(
    `SELECT mail_outbox::text AS row, content FROM mail_outbox`,
  );
  const bytes = rows.map(({ content }) => content.toString('latin1'));
  for (const text of [...rows.map(({ row }) => row), ...bytes]) {
    for (const word of ['secret-reader', 'subject', 'letter']) expect(text).not.toContain(word);
    const hex = Buffer.from('secret-reader').toString('hex');
    expect(text).not.toContain(hex);
  }
  // Equal mails have unequal ciphertexts.
  expect(bytes[0]).not.toBe(bytes[1]);
});

test('without SMTP_URL there is no mail, and what was left behind is dropped in time', async () => {
  const on = mailProcess({ database, env: { SMTP_URL: sink.url }, sends: false });
  await post(on, database, letter('late@example.test'));
  await database.pool.query(`UPDATE mail_outbox SET expires_at = now() - interval '1 second'`);
  const off = mailProcess({ database, env: {} });
  started.push(off);
  expect(off.outbox.available).toBe(false);
  expect(await post(off, database, letter('none@example.test'))).toBe('unavailable');
  off.delivery.onApplicationBootstrap();
  await until(async () => (await rowsOf(database))[0]?.content === null);
  expect(await rowsOf(database)).toHaveLength(1);
});

test('the quota holds for every purpose apart, also for fifty at once', async () => {
  const env = { SMTP_URL: sink.url, MAILS_PER_HOUR: '20' };
  const process = mailProcess({ database, env, sends: false });
  const purposes = ['verification', 'recovery', 'sign_in'] as const;
  for (const purpose of purposes) {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        post(process, database, letter(`${purpose}-${i}@example.test`, { purpose })),
      ),
    );
    expect(results.filter((result) => result === 'queued')).toHaveLength(20);
    expect(results.filter((result) => result === 'limited')).toHaveLength(30);
  }
  // Whoever uses up a quota must not keep others from hearing what happens to their accounts.
  for (let i = 0; i < 25; i++) {
    const notice = letter(`notice-${i}@example.test`, { purpose: 'notice' });
    expect(await post(process, database, notice)).toBe('queued');
  }
  await database.pool.query(`UPDATE mail_outbox SET created_at = now() - interval '61 minutes'`);
  expect(await post(process, database, letter('next@example.test'))).toBe('queued');
});

test('one address gets ten codes of a kind an hour, however it is spelled', async () => {
  const process = mailProcess({ database, env: { SMTP_URL: sink.url }, sends: false });
  const code = (to: string, purpose: 'verification' | 'recovery') =>
    post(process, database, letter(to, { purpose }));
  for (let i = 0; i < 10; i++) {
    expect(await code(i % 2 ? 'one@example.test' : 'ONE@example.test', 'recovery')).toBe('queued');
  }
  expect(await code('one@example.test', 'recovery')).toBe('limited');
  expect(await code('one@example.test', 'verification')).toBe('queued');
  expect(await code('two@example.test', 'recovery')).toBe('queued');
});
