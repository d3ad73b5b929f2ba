import { Injectable } from '@nestjs/common';
import { Database, MailOutbox, type Principal, type Transaction } from '@relayger/kernel';
import { fail, type Security, type SetRecoveryEmailResponse } from '@relayger/protocol';
import { requireAgent } from './agent-only.js';
import { AttemptsService } from './attempts.service.js';
import { EmailCodesService, type MailableAccount } from './email-codes.service.js';
import { emailChanged } from './mails/email-changed.js';
import { emailRemoved } from './mails/email-removed.js';
import { OwnerProofService } from './owner-proof.service.js';
import { SecurityNotices } from './security-notices.service.js';
import { deleteEmailCodes } from './sql/delete-email-codes.js';
import { deleteRecoveryEmail } from './sql/delete-recovery-email.js';
import { findRecoveryEmail } from './sql/find-recovery-email.js';
import { isTokenOpen } from './sql/is-token-open.js';
import { listEmailCodes } from './sql/list-email-codes.js';
import { lockCredential } from './sql/lock-credential.js';
import { putRecoveryEmail } from './sql/put-recovery-email.js';

/** Looks after the address that an account can be recovered with. */
@Injectable()
export class EmailService {
  constructor(
    private readonly database: Database,
    private readonly owner: OwnerProofService,
    private readonly attempts: AttemptsService,
    private readonly codes: EmailCodesService,
    private readonly outbox: MailOutbox,
    private readonly notices: SecurityNotices,
  ) {}

  /** Whether this server sends mail at all. */
  get available(): boolean {
    return this.outbox.available;
  }

  /** What the owner sees: the verified address, and the one whose code is still on its way. */
  async describe(identityId: string): Promise<Pick<Security, 'email' | 'pendingEmail'>> {
    const [verified, [pending]] = await Promise.all([
      findRecoveryEmail(this.database, identityId),
      listEmailCodes(this.database, identityId, 'verification'),
    ]);
    return {
      email: verified && { address: verified.address, verified: true },
      pendingEmail: pending?.address ?? null,
    };
  }

  /**
   * Mails a code to an address that is to become the recovery address.
   * @throws RelaygerError `email_unavailable`, and what `OwnerProofService` throws
   */
  async set(
    caller: Principal,
    client: string,
    address: string,
    password: string | undefined,
  ): Promise<SetRecoveryEmailResponse['state']> {
    if (!this.available) fail('email_unavailable');
    const proof = await this.owner.prove(caller, client, password);
    return this.database.transaction(async (sql) => {
      await this.owner.hold(sql, caller, proof);
      const enqueued = await this.begin(sql, caller, address);
      return enqueued === 'queued' ? 'code_sent' : 'limited';
    });
  }

  /** Mails the code, and forgets another address that awaits one. The caller holds the account's credentials. */
  async begin(
    sql: Transaction,
    account: MailableAccount,
    address: string,
  ): ReturnType<MailOutbox['enqueue']> {
    const enqueued = await this.codes.send(sql, 'verification', account, address);
    if (enqueued === 'queued') {
      const others = { purpose: 'verification', notTo: address } as const;
      await deleteEmailCodes(sql, account.identityId, others);
    }
    return enqueued;
  }

  /**
   * Makes the address that a code was sent to the recovery address.
   * @returns the address
   * @throws RelaygerError `agent_only`, `invalid_code`, `too_many_attempts`, `unauthorized`
   */
  async verify(caller: Principal, client: string, text: string): Promise<string> {
    requireAgent(caller);
    const { identityId, number, tokenId } = caller;
    const { proven, counted } = await this.attempts.check(
      'verification',
      { client, account: number },
      () => this.codes.find(identityId, 'verification', text),
      'invalid_code',
    );
    return this.database.transaction(async (sql) => {
      const credential = await lockCredential(sql, identityId);
      if (!credential || !(await isTokenOpen(sql, tokenId))) fail('unauthorized');
      const before = await findRecoveryEmail(sql, identityId);
      // All of them: those for the address before open nothing any more.
      const ended = await deleteEmailCodes(sql, identityId);
      const used = ended.find(({ id }) => id === proven.id) ?? fail('invalid_code');
      await putRecoveryEmail(sql, identityId, used.address);
      await this.attempts.forgive(sql, counted);
      if (before && before.address !== used.address) {
        await this.notices.tellAt(sql, before, emailChanged);
      }
      return used.address;
    });
  }

  /**
   * Leaves the account without a recovery address.
   * @throws RelaygerError what `OwnerProofService` throws
   */
  async remove(caller: Principal, client: string, password: string | undefined): Promise<void> {
    const proof = await this.owner.prove(caller, client, password);
    await this.database.transaction(async (sql) => {
      await this.owner.hold(sql, caller, proof);
      const before = await findRecoveryEmail(sql, caller.identityId);
      await deleteEmailCodes(sql, caller.identityId);
      await deleteRecoveryEmail(sql, caller.identityId);
      if (before) await this.notices.tellAt(sql, before, emailRemoved);
    });
  }
}
