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
import { findAccount } from './sql/find-account.js';
import { findRecoveryEmail } from './sql/find-recovery-email.js';
import { type CodeRequest, insertCodeRequest } from './sql/insert-code-request.js';
import { lockCredential } from './sql/lock-credential.js';
import { takeCodeRequest } from './sql/take-code-request.js';

const BOX = 'code requests';
const LOOK_MS = 15_000;
/** Requests an hour that one client can have looked at. An owner of many agents needs some, a scanner thousands. */
const PER_CLIENT = 100;
const HOUR = 3600;
/**
 * A request is looked at some time within this. At once, the work for a known number would slow down whatever the
 * same client asks next, and show there: known and unknown ones in turn differed by 7 % (measured).
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

  /**
   * Asks for a recovery code. Beyond the client's limit the request is dropped without a word: the contract
   * answers ok always.
   * @throws RelaygerError `invalid_number`, `invalid_number_check_digit`, `email_unavailable`
   */
  async askForRecovery(text: string, client: string): Promise<void> {
    const number = parseNumber(text);
    if (!this.outbox.available) fail('email_unavailable');
    const limit = [counter(['code request', 'client', client], PER_CLIENT, HOUR)];
    if ((await usedUp(this.database, limit)) !== null) return;
    await this.database.transaction(async (sql) => {
      const { retryAfter } = await countIn(sql, limit);
      if (retryAfter !== null) return;
      const id = uuid();
      const subject = this.secrets.box(BOX).seal(id, number);
      const delay = randomInt(SPREAD_MS);
      await insertCodeRequest(sql, { id, purpose: 'recovery', subject }, delay);
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
      if (subject !== null) await this.sendRecoveryCode(sql, subject);
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
    if (!account) return;
    // The lock keeps the address from changing before the code is stored: codes for another one must be gone.
    await lockCredential(sql, account.identityId);
    const email = await findRecoveryEmail(sql, account.identityId);
    if (!email) return;
    const sent = await this.codes.send(sql, 'recovery', account, email.address);
    if (sent === 'limited')
      this.log.warn('the quota of recovery mails is used up; one was not sent');
  }
}
