import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { type ParsedMail, parseMail } from './parse-mail.js';

export interface ReceivedMail extends ParsedMail {
  /** The recipients of the envelope, which alone decide where a mail goes. */
  to: string[];
  from: string;
}

export interface MailSink {
  /** For SMTP_URL. */
  readonly url: string;
  /** Everything that was accepted, in order. */
  readonly mails: readonly ReceivedMail[];
  /** The mails for an address, once there are as many. */
  waitFor(address: string, count?: number): Promise<ReceivedMail[]>;
  /** The codes that an address has got so far. */
  codes(address: string): string[];
  /** The newest code for an address, once it has got as many. */
  codeFor(address: string, count?: number): Promise<string>;
  /** From now on mails are answered with this SMTP status; null accepts them again. */
  answerWith(status: number | null): void;
  /** Stops listening, as a server that is down; `start` listens on the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const CODE = /\b[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}\b/;
/** How long a mail may take; the outbox says within a second. */
const PATIENCE_MS = 5_000;

/** A real SMTP server on a free port of this machine that keeps what it is given. */
export async function startMailSink(): Promise<MailSink> {
  const mails: ReceivedMail[] = [];
  const waiting = new Set<() => void>();
  let status: number | null = null;
  let port = 0;
  let server: SMTPServer;

  async function start(): Promise<void> {
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      onRcptTo(_address, _session, done) {
        if (status === null) return done();
        done(Object.assign(new Error('no thanks'), { responseCode: status }));
      },
      onData(stream, { envelope }, done) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          mails.push({
            ...parseMail(Buffer.concat(chunks).toString('utf8')),
            to: envelope.rcptTo.map(({ address }) => address),
            from: envelope.mailFrom ? envelope.mailFrom.address : '',
          });
          done();
          for (const check of waiting) check();
        });
      },
    });
    // A client that is cut off in the middle of a mail is what some tests are about.
    server.on('error', () => {});
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.server.address() as AddressInfo).port;
  }

  function stop(): Promise<void> {
    return new Promise((resolve) => server.close(() => resolve()));
  }

  /** What `look` finds, once it finds enough. */
  function waitUntil<T>(look: () => T[], count: number): Promise<T[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(check);
        reject(new Error(`got ${look().length} in ${PATIENCE_MS} ms, expected ${count}`));
      }, PATIENCE_MS);
      const check = () => {
        const found = look();
        if (found.length < count) return;
        clearTimeout(timer);
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
    });
  }
  const mailsFor = (address: string) => mails.filter(({ to }) => to.includes(address));
  const codes = (address: string) =>
    mailsFor(address).flatMap(({ text }) => CODE.exec(text)?.[0] ?? []);

  await start();
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    waitFor: (address, count = 1) => waitUntil(() => mailsFor(address), count),
    codes,
    async codeFor(address, count = 1) {
      const all = await waitUntil(() => codes(address), count);
      return all.at(-1) as string;
    },
    answerWith: (next) => {
      status = next;
    },
    stop,
    start,
  };
}
