import {
  createLogger,
  Database,
  type KernelConfig,
  kernelSettings,
  loadConfig,
  Secrets,
  ServiceAddress,
} from '@relayger/kernel';
import { createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import { MailDelivery } from '../src/mail/mail.jobs.js';
import type { OutgoingMail } from '../src/mail/mail.js';
import { MailOutbox } from '../src/mail/mail-outbox.js';
import { SmtpSender } from '../src/mail/smtp-sender.js';

const KEY = Buffer.alloc(32, 'key');

/** The mail part of one process. */
export interface MailProcess {
  outbox: MailOutbox;
  delivery: MailDelivery;
  /** Log lines as they were written. */
  lines: string[];
}

interface Start {
  database: Database;
  env: Record<string, string>;
  key?: Buffer;
  /** False: takes mails, but leaves sending them to others. */
  sends?: boolean;
}

/** Wires outbox and delivery as the kernel's module does; the caller starts and stops the delivery. */
export function mailProcess({ database, env, key = KEY, sends = true }: Start): MailProcess {
  const lines: string[] = [];
  const log = createLogger('debug', { write: (line: string) => lines.push(line) });
  const config: KernelConfig = loadConfig(kernelSettings, env);
  const secrets = new Secrets(key);
  const reachable = sends ? config : { ...config, SMTP_URL: undefined };
  const sender = new SmtpSender(reachable, new ServiceAddress(config));
  const delivery = new MailDelivery(database, secrets, sender, log);
  return { outbox: new MailOutbox(config, secrets, delivery), delivery, lines };
}

export async function openDatabase(): Promise<{ database: Database; test: TestDatabase }> {
  const test = await createTestDatabase();
  return { database: new Database({ url: test.url, pool: 8, log: createLogger('silent') }), test };
}

/** A mail with everything in it that has to be told apart. */
export function letter(to: string, more: Partial<OutgoingMail> = {}): OutgoingMail {
  return {
    to,
    subject: 'A subject of no interest',
    text: 'The text of the letter\n',
    html: '<p>The text of the letter</p>',
    purpose: 'notice',
    usefulFor: 900,
    ...more,
  };
}

/** Puts a mail into the outbox in a transaction of its own. */
export function post(
  { outbox }: MailProcess,
  database: Database,
  mail: OutgoingMail,
): ReturnType<MailOutbox['enqueue']> {
  return database.transaction((sql) => outbox.enqueue(sql, mail));
}

interface OutboxRow {
  id: string;
  content: Buffer | null;
  attempts: number;
  due_in: number | null;
}

/** The rows of the outbox, oldest first. */
export async function rowsOf(database: Database): Promise<OutboxRow[]> {
  const { rows } = await database.pool.query<OutboxRow>(
    `SELECT id, content, attempts, round(extract(epoch FROM due_at - now()))::int AS due_in
       FROM mail_outbox ORDER BY created_at, id`,
  );
  return rows;
}

/** Makes everything due that waits for its next attempt. Since a second: the column rounds, also into the future. */
export async function makeDue(database: Database): Promise<void> {
  await database.pool.query(
    `UPDATE mail_outbox SET due_at = now() - interval '1 second' WHERE due_at IS NOT NULL`,
  );
}

/** Looks until a condition holds. */
export async function until(holds: () => Promise<boolean> | boolean, ms = 15_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`did not happen within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
