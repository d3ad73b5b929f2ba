import { randomInt } from 'node:crypto';
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  Database,
  LOGGER,
  type Logger,
  MailOutbox,
  Poller,
  SealError,
  Secrets,
  type Transaction,
} from '@relayger/kernel';
import { fail, parseNumber } from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { counter, countIn, usedUp } from './counters.js';
import { EmailCodesService } from './email-codes.service.js';
import { EmailSignInService } from './email-sign-in.service.js';
import { foldAddress } from './human-address.js';
import { findAccount } from './sql/find-account.js';
import { findRecoveryEmail } from './sql/find-recovery-email.js';
import { type CodeRequest, insertCodeRequest } from './sql/insert-code-request.js';
import { takeCodeRequest } from './sql/take-code-request.js';

const BOX = 'code requests';
const LOOK_MS = 15_000;
/** Requests an hour that one client can have looked at. An owner of many agents needs some, a scanner thousands. */
const PER_CLIENT = 100;
const HOUR = 3600;
/**
 * A request is looked at some time within this. At once, the work for a known number, which makes a mail and sends
 * it, would slow down whatever the same client asks next, and show there.
 */
const SPREAD_MS = 400;

/**
 * Mails codes to whoever asks without being signed in. What is asked is stored and answered first, and looked at
 * afterwards: otherwise the time of an answer would tell whether there is such an account.
 */
@Injectable()
export class CodeRequests implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly poller: Poller;

  constructor(
    private readonly database: Database,
    private readonly secrets: Secrets,
    private readonly outbox: MailOutbox,
    private readonly codes: EmailCodesService,
    private readonly signIn: EmailSignInService,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    const options = { name: 'answering requests for codes', everyMs: LOOK_MS, log };
    this.poller = new Poller(() => this.answerOne(), options);
  }

  onApplicationBootstrap(): void {
    if (this.outbox.available) this.poller.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.poller.stop();
  }

  /** @throws RelaygerError `invalid_number`, `invalid_number_check_digit`, `email_unavailable` */
  askForRecovery(number: string, client: string): Promise<void> {
    return this.ask('recovery', parseNumber(number), client);
  }

  /** @throws RelaygerError `email_unavailable` */
  askForSignIn(email: string, client: string): Promise<void> {
    return this.ask('sign_in', foldAddress(email), client);
  }

  /** Beyond the client's limit a request is dropped without a word: the contract answers ok always. */
  private async ask(
    purpose: CodeRequest['purpose'],
    subject: string,
    client: string,
  ): Promise<void> {
    if (!this.outbox.available) fail('email_unavailable');
    const limit = [counter(['code request', 'client', client], PER_CLIENT, HOUR)];
    if ((await usedUp(this.database, limit)) !== null) return;
    await this.database.transaction(async (sql) => {
      const { retryAfter } = await countIn(sql, limit);
      if (retryAfter !== null) return;
      const id = uuid();
      const sealed = this.secrets.box(BOX).seal(id, subject);
      const delay = randomInt(SPREAD_MS);
      await insertCodeRequest(sql, { id, purpose, subject: sealed }, delay);
      sql.afterCommit(() => this.wakeIn(delay));
    });
  }

  private wakeIn(ms: number): void {
    // A little later than due: the row was stamped before it was committed, but rounded to a millisecond.
    setTimeout(() => this.poller.wake(), ms + 1).unref();
  }

  private answerOne(): Promise<boolean> {
    return this.database.transaction(async (sql) => {
      const request = await takeCodeRequest(sql);
      if (!request) return false;
      const subject = this.open(request);
      if (subject === null) return true;
      if (request.purpose === 'recovery') await this.sendRecoveryCode(sql, subject);
      else await this.signIn.send(sql, subject);
      return true;
    });
  }

  /** What was asked for; null for a request that nobody can read, which must not keep the others waiting. */
  private open({ id, subject }: CodeRequest): string | null {
    try {
      return this.secrets.box(BOX).open(id, subject);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      this.log.warn(
        { errorCode: error.code },
        'dropped a request for a code; is SECRET_KEY another one?',
      );
      return null;
    }
  }

  private async sendRecoveryCode(sql: Transaction, number: string): Promise<void> {
    const account = await findAccount(sql, number);
    const email = account && (await findRecoveryEmail(sql, account.identityId));
    if (email) await this.codes.sendTo(sql, 'recovery', account, email.address);
  }
}
