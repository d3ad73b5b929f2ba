import { type AddressInfo, createServer } from 'node:net';
import type { Database } from '@relayger/kernel';
import { type MailSink, startMailSink, type TestDatabase } from '@relayger/kernel/testing';
import { SMTPServer } from 'smtp-server';
import {
  letter,
  type MailProcess,
  mailProcess,
  makeDue,
  openDatabase,
  post,
  rowsOf,
  until,
} from './mail-support.js';

let sink: MailSink;
let database: Database;
let test_: TestDatabase;
const started: MailProcess[] = [];
beforeEach(async () => {
  sink = await startMailSink();
  ({ database, test: test_ } = await openDatabase());
});
afterEach(async () => {
  for (const { delivery } of started.splice(0)) await delivery.onApplicationShutdown();
  await database.close();
  await test_.drop();
  await sink.stop();
});

function start(options: { env?: Record<string, string>; key?: Buffer } = {}): MailProcess {
  const { env, key } = options;
  const process = mailProcess({ database, env: { SMTP_URL: sink.url, ...env }, key });
  process.delivery.onApplicationBootstrap();
  started.push(process);
  return process;
}

test('while the server is down a mail waits, longer each time, and survives the process', async () => {
  await sink.stop();
  const first = start();
  await post(first, database, letter('patient@example.test'));
  for (const [attempt, wait] of [
    [1, 60],
    [2, 120],
    [3, 240],
  ] as const) {
    await until(async () => (await rowsOf(database))[0]?.due_in === wait);
    expect((await rowsOf(database))[0]?.attempts).toBe(attempt);
    await makeDue(database);
    if (attempt < 3) first.delivery.wake();
  }
  await first.delivery.onApplicationShutdown();
  await sink.start();

  start();
  await sink.waitFor('patient@example.test');
  await until(async () => (await rowsOf(database))[0]?.content === null);
  await makeDue(database);
  expect(sink.mails).toHaveLength(1);
});

test('after eight attempts a mail is given up and nothing of it is kept or logged', async () => {
  sink.answerWith(451);
  const process = start();
  await post(process, database, letter('stubborn@example.test'));
  for (const [failures, wait] of [60, 120, 240, 480, 960, 1920, 3600].entries()) {
    await until(async () => (await rowsOf(database))[0]?.due_in === wait);
    const [row] = await rowsOf(database);
    expect(row).toMatchObject({ attempts: failures + 1, content: expect.any(Buffer) });
    // Expiry is another matter.
    await database.pool.query(
      `UPDATE mail_outbox SET due_at = now(), expires_at = now() + interval '1 day'`,
    );
    process.delivery.wake();
  }
  await until(async () => (await rowsOf(database))[0]?.content === null);
  expect((await rowsOf(database))[0]).toMatchObject({ attempts: 8, due_in: null });
  expect(sink.mails).toHaveLength(0);

  const log = process.lines.join('');
  expect(log).toContain('"errorCode":"EENVELOPE","smtpStatus":451');
  expect(log).toContain('gave up a mail');
  for (const secret of ['stubborn', 'letter', 'subject', 'no thanks']) {
    expect(log).not.toContain(secret);
  }
});

test('an address that does not exist is not tried again', async () => {
  sink.answerWith(550);
  const process = start();
  await post(process, database, letter('nobody@example.test'));
  await until(async () => (await rowsOf(database))[0]?.content === null);
  expect((await rowsOf(database))[0]).toMatchObject({ attempts: 1, due_in: null });
});

test('a mail that has become useless is not sent late', async () => {
  await sink.stop();
  const process = start();
  await post(process, database, letter('expired@example.test', { usefulFor: 900 }));
  await post(process, database, letter('in-time@example.test', { usefulFor: 86_400 }));
  await until(async () => (await rowsOf(database)).every(({ due_in }) => due_in === 60));
  await database.pool.query(
    `UPDATE mail_outbox SET expires_at = expires_at - interval '15 minutes'`,
  );
  await makeDue(database);
  await sink.start();
  process.delivery.wake();
  await sink.waitFor('in-time@example.test');
  expect(sink.mails).toHaveLength(1);
});

test('two processes send every mail once', async () => {
  const [one, two] = [start(), start()];
  const addresses = Array.from({ length: 40 }, (_, i) => `crowd-${i}@example.test`);
  await Promise.all(
    addresses.map((address, i) => post(i % 2 ? one : two, database, letter(address))),
  );
  await until(() => sink.mails.length === 40);
  await until(async () => (await rowsOf(database)).every(({ content }) => content === null));
  expect(new Set(sink.mails.flatMap(({ to }) => to)).size).toBe(40);
  expect(sink.mails).toHaveLength(40);
});

test('a mail that a process took along when it died is sent by another', async () => {
  const dead = mailProcess({ database, env: { SMTP_URL: sink.url }, sends: false });
  await post(dead, database, letter('orphan@example.test'));
  await database.pool.query(
    `UPDATE mail_outbox SET attempts = 1, due_at = now() + interval '5 minutes'`,
  );
  const process = start();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(sink.mails).toHaveLength(0);
  await makeDue(database);
  process.delivery.wake();
  await sink.waitFor('orphan@example.test');
});

test('a mail sealed with another key stays for whoever has that key', async () => {
  const other = mailProcess({ database, env: { SMTP_URL: sink.url }, sends: false });
  await post(other, database, letter('sealed@example.test'));
  const process = start({ key: Buffer.alloc(32, 'another') });
  await until(async () => (await rowsOf(database))[0]?.due_in === 60);
  expect(process.lines.join('')).toContain('"errorCode":"ESEAL"');
  expect(sink.mails).toHaveLength(0);
  // It looks once more after a failure, and must not take the mail before the one that can open it.
  await process.delivery.onApplicationShutdown();
  await makeDue(database);
  start();
  await sink.waitFor('sealed@example.test');
});

test('a server on this machine with a certificate of its own and a password takes mail over TLS', async () => {
  const seen: unknown[] = [];
  const server = new SMTPServer({
    logger: false,
    onAuth({ username, password }, { secure }, done) {
      seen.push({ username, password, secure });
      done(null, { user: username });
    },
    onData(stream, _session, done) {
      stream.resume();
      stream.on('end', () => done());
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const process = start({ env: { SMTP_URL: `smtp://relay:p%40ss@127.0.0.1:${port}` } });
  await post(process, database, letter('over-tls@example.test'));
  await until(async () => (await rowsOf(database))[0]?.content === null);
  expect(seen).toEqual([{ username: 'relay', password: 'p@ss', secure: true }]);
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

test('a server that says nothing holds up neither the other mails nor the end of the process', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const process = start({ env: { SMTP_URL: `smtp://127.0.0.1:${port}` } });
  await post(process, database, letter('stuck@example.test'));
  await until(async () => (await rowsOf(database))[0]?.attempts === 1);
  const began = performance.now();
  await process.delivery.onApplicationShutdown();
  expect(performance.now() - began).toBeLessThan(5_000);
  started.splice(started.indexOf(process), 1);
  silent.close();
  // Due at once for the next process.
  await until(async () => (await rowsOf(database))[0]?.due_in === 0);
  start();
  await sink.waitFor('stuck@example.test');
}, 15_000);
