import { Injectable } from '@nestjs/common';
import { Database, type Sql } from '@relayger/kernel';
import {
  fail,
  type KnownIdentity,
  type Profile,
  parseAddress,
  type UpdateProfileRequest,
} from '@relayger/protocol';
import { IdentitiesStore, type IdentityRecord } from './identities.store.js';
import { insertNewIdentity, type NewIdentity } from './sql/insert-identity.js';
import { type Acquaintances, listAcquaintances } from './sql/list-acquaintances.js';
import { type FullRecord, getFullRecord, listIdentities } from './sql/list-identities.js';
import { type DisabledBy, disableIdentity, enableIdentity } from './sql/set-disabled.js';
import { updateProfile } from './sql/update-profile.js';

/** Who exists, and under which number. */
@Injectable()
export class IdentitiesService {
  constructor(
    private readonly database: Database,
    private readonly store: IdentitiesStore,
  ) {}

  /**
   * Finds an identity by number, handle or UUID. A disabled one is found too; callers decide what it may do.
   * @param path where the address stood in the request, for the error
   * @throws RelaygerError `invalid_number`, `invalid_number_check_digit`, `invalid_request`, `not_found`
   */
  async resolve(address: string, path?: string): Promise<IdentityRecord> {
    return (await this.store.find(parseAddress(address, path))) ?? fail('not_found');
  }

  /** As `resolve`, and a disabled identity is not found: for everything that starts something new with it. */
  async resolveActive(address: string, path?: string): Promise<IdentityRecord> {
    const identity = await this.resolve(address, path);
    return identity.disabledAt ? fail('not_found') : identity;
  }

  /**
   * Creates an identity inside the caller's transaction.
   * @returns its permanent number
   * @throws RelaygerError `conflict` when the handle is taken
   */
  create(sql: Sql, identity: NewIdentity): Promise<string> {
    return insertNewIdentity(sql, identity);
  }

  /** What the identity says about itself in public. */
  profile(id: string): Promise<Profile> {
    return this.store.profile(id);
  }

  /** Changes the given parts of the profile; the others stay as they are. */
  updateProfile(
    id: string,
    changes: UpdateProfileRequest,
    sql: Sql = this.database,
  ): Promise<Profile> {
    return updateProfile(sql, id, changes);
  }

  /** Switches an identity off; `AccountLifecycle` in accounts also ends what it has open. */
  disable(sql: Sql, id: string, by: DisabledBy): Promise<void> {
    return disableIdentity(sql, id, by);
  }

  /** @throws RelaygerError `disabled_by_operator` when an operator has disabled it and its owner asks */
  async enable(sql: Sql, id: string, by: DisabledBy): Promise<void> {
    if (!(await enableIdentity(sql, id, by))) fail('disabled_by_operator');
  }

  /** Active identities by handle, of those that the caller knows. */
  acquaintances(whom: Acquaintances): Promise<KnownIdentity[]> {
    return listAcquaintances(this.database, whom);
  }

  /** A page of all identities by handle, for operators. */
  page(after: string | undefined, limit: number): Promise<FullRecord[]> {
    return listIdentities(this.database, after, limit);
  }

  /** @throws RelaygerError `not_found` */
  async get(id: string, sql: Sql = this.database): Promise<FullRecord> {
    return (await getFullRecord(sql, id)) ?? fail('not_found');
  }

  /** How many agents a human owns, disabled ones included. */
  countOwned(ownerId: string): Promise<number> {
    return this.store.countOwned(ownerId);
  }
}
