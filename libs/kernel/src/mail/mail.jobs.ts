import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Database } from '../database/database.js';
import { Poller } from '../jobs/poller.js';
import { LOGGER, type Logger } from '../log/logger.js';
import { Secrets } from '../secrets/secrets.js';
import { MAIL_BOX, type Mail } from './mail.js';
import { SmtpSender, sendFailure } from './smtp-sender.js';
import { type ClaimedMail, claimMail } from './sql/claim-mail.js';
import { deleteMails } from './sql/delete-mails.js';
import { finishMail } from './sql/finish-mail.js';
import { postponeMail } from './sql/postpone-mail.js';

/** Mails under way at once, so that one slow recipient does not hold up the codes of others. */
const LANES = 4;
const LOOK_MS = 15_000;
const TIDY_MS = 900_000;
/** One attempt, all steps of the dialogue together. */
const ATTEMPT_MS = 60_000;
const MAX_ATTEMPTS = 8;
/** What is under way when the process stops gets this long. */
const GRACE_MS = 4_000;

/** Seconds to wait after so many failures: 1, 2, 4, 8, 16, 32 minutes, an hour. */
function backoff(failures: number): number {
  return Math.min(60 * 2 ** (failures - 1), 3600);
}

/**
 * Sends what is in the outbox. A mail is sent at least once: a process that dies between the server's OK and its
 * own note of it leaves a mail that another sends again, under the same Message-ID.
 */
@Injectable()
export class MailDelivery implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly lanes: Poller[];
  private readonly tidying: Poller;
  private readonly stopping = new AbortController();

  constructor(
    private readonly database: Database,
    private readonly secrets: Secrets,
    private readonly sender: SmtpSender,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    const sending = { name: 'sending mail', everyMs: LOOK_MS, log };
    this.lanes = Array.from(
      { length: sender.available ? LANES : 0 },
      () => new Poller(() => this.deliverOne(), sending),
    );
    // Also without a server: what was left when mail was switched off must not lie here for ever.
    const tidying = { name: 'dropping old mail', everyMs: TIDY_MS, log };
    this.tidying = new Poller(async () => {
      await deleteMails(database);
      return false;
    }, tidying);
  }

  onApplicationBootstrap(): void {
    for (const poller of [...this.lanes, this.tidying]) poller.start();
  }

  async onApplicationShutdown(): Promise<void> {
    const grace = setTimeout(() => this.stopping.abort(), GRACE_MS);
    await Promise.all([...this.lanes, this.tidying].map((poller) => poller.stop()));
    clearTimeout(grace);
  }

  /** There is a mail to send. Call it after COMMIT. */
  wake(): void {
    for (const lane of this.lanes) lane.wake();
  }

  private async deliverOne(): Promise<boolean> {
    const claimed = await claimMail(this.database, MAX_ATTEMPTS);
    if (!claimed) return false;
    try {
      await this.send(claimed);
    } catch (error) {
      await this.settleFailure(claimed, error);
      return true;
    }
    await finishMail(this.database, claimed);
    return true;
  }

  private async send({ id, content }: ClaimedMail): Promise<void> {
    const mail = JSON.parse(this.secrets.box(MAIL_BOX).open(id, content)) as Mail;
    const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(ATTEMPT_MS)]);
    await this.sender.send(id, mail, signal);
  }

  private async settleFailure(claimed: ClaimedMail, error: unknown): Promise<void> {
    const { id, attempt } = claimed;
    if (this.stopping.signal.aborted) return postponeMail(this.database, claimed, 0);
    const { errorCode, smtpStatus, permanent } = sendFailure(error);
    const givenUp = permanent || attempt >= MAX_ATTEMPTS;
    this.log.warn(
      { mail: id, attempt, errorCode, smtpStatus },
      givenUp ? 'gave up a mail' : 'could not send a mail; will try again',
    );
    if (givenUp) await finishMail(this.database, claimed);
    else await postponeMail(this.database, claimed, backoff(attempt));
  }
}
