import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, Database, type Sql } from '@relayger/kernel';
import { fail, RelaygerError } from '@relayger/protocol';
import type { AccountsConfig } from './accounts.config.js';
import { type Counter, counter, countIn, usedUp } from './counters.js';
import { FailureQuota } from './failure-quota.js';
import { hasAdministrator } from './sql/has-admin.js';

const HOUR = 3600;
const DAY = 86_400;
/**
 * Failed registrations an hour per client and process, as a multiple of the successful ones it may make: each
 * may cost a hash, which makes it dearer than a refused one.
 */
const FAILURES_PER_REGISTRATION = 10;

/** Whether anybody may register, and how many: from one client and on the whole server. */
@Injectable()
export class RegistrationLimits {
  private readonly failures: FailureQuota;
  private bootstrapped: boolean;

  constructor(
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: AccountsConfig,
  ) {
    const { REGISTRATIONS_PER_IP_HOUR } = config;
    this.bootstrapped = !config.REGISTRATION_NEEDS_ADMIN;
    this.failures = new FailureQuota(REGISTRATIONS_PER_IP_HOUR * FAILURES_PER_REGISTRATION);
  }

  /**
   * Runs a registration of a client if the limits leave room for one, before it costs a hash. Failures count
   * against a quota of their own; a server that cannot answer now is not the client's failure.
   * @throws RelaygerError `registration_closed`, `operator_bootstrap_required`, `registration_limit`
   */
  async admit<T>(client: string, register: () => Promise<T>): Promise<T> {
    if (!this.config.REGISTRATION_ENABLED) fail('registration_closed');
    if (!(await this.isBootstrapped())) fail('operator_bootstrap_required', { retryAfter: HOUR });
    const wait = this.failures.usedUp(client);
    if (wait !== null) fail('registration_limit', { retryAfter: wait });
    try {
      this.refuse(await usedUp(this.database, this.counters(client)));
      return await register();
    } catch (error) {
      const failed = error instanceof RelaygerError && error.code !== 'unavailable';
      if (failed) this.failures.add(client);
      throw error;
    }
  }

  /**
   * Counts a registration in the transaction that makes it: one that fails later is not counted, and the rows
   * stay locked, so that concurrent registrations cannot both take the last place.
   * @throws RelaygerError `registration_limit`
   */
  async count(sql: Sql, client: string): Promise<void> {
    const { retryAfter } = await countIn(sql, this.counters(client));
    this.refuse(retryAfter);
  }

  /** Once there is an administrator there always is one, so the answer is kept. */
  private async isBootstrapped(): Promise<boolean> {
    this.bootstrapped ||= await hasAdministrator(this.database);
    return this.bootstrapped;
  }

  private refuse(retryAfter: number | null): void {
    if (retryAfter !== null) fail('registration_limit', { retryAfter });
  }

  private counters(client: string): Counter[] {
    return [
      counter(['registration', 'client', client], this.config.REGISTRATIONS_PER_IP_HOUR, HOUR),
      counter(['registration', 'server'], this.config.REGISTRATIONS_PER_DAY, DAY),
    ];
  }
}
