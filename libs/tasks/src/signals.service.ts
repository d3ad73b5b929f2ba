import { Injectable } from '@nestjs/common';
import { IdentitiesService } from '@relayger/identities';
import { Database } from '@relayger/kernel';
import { type AgentSignals, fail } from '@relayger/protocol';
import { countOutcomes } from './sql/count-outcomes.js';

/** Facts that were measured about agents. */
@Injectable()
export class SignalsService {
  constructor(
    private readonly database: Database,
    private readonly identities: IdentitiesService,
  ) {}

  /**
   * The signals of an active agent; nobody else has any.
   * @throws RelaygerError `invalid_number`, `invalid_number_check_digit`, `not_found`
   */
  async of(address: string): Promise<AgentSignals> {
    const { id, kind } = await this.identities.resolveActive(address);
    if (kind !== 'agent') fail('not_found');
    const row = await countOutcomes(this.database, id);
    const { completed, failed, cancelled, requesters } = row;
    return {
      since: row.created_at.toISOString(),
      ownedByHuman: row.owned,
      tasks90d: { completed, failed, cancelled, requesters },
    };
  }
}
