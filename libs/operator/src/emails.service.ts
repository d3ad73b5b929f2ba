import { Injectable } from '@nestjs/common';
import { VerifiedEmailsService } from '@relayger/accounts';
import { IdentitiesService } from '@relayger/identities';
import { Database } from '@relayger/kernel';
import { failField } from '@relayger/protocol';
import { type Actor, recordAct } from './actor.js';

/**
 * Verifies the addresses that people sign in with by mail. Whoever reads mail to such an address gets into the
 * account, so only an operator names it, after a check outside; no controller may depend on this.
 */
@Injectable()
export class EmailsService {
  constructor(
    private readonly database: Database,
    private readonly identities: IdentitiesService,
    private readonly emails: VerifiedEmailsService,
  ) {}

  /** @throws RelaygerError `not_found`, `invalid_request` for an agent or service: they verify with a code */
  async verify(actor: Actor, id: string, address: string): Promise<void> {
    await this.database.transaction(async (sql) => {
      const { kind } = await this.identities.get(id, sql);
      if (kind !== 'human') failField('identity', 'must be a person');
      await this.emails.set(sql, id, address);
      // The address itself stays out of the log, which is never deleted from.
      const details = { fields: ['email'] };
      await recordAct(sql, actor, { action: 'identity.update', subjectId: id, details });
    });
  }
}
