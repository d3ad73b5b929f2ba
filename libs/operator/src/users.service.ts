import { Injectable } from '@nestjs/common';
import { AccountLifecycle, IssuedTokensService } from '@relayger/accounts';
import { type FullRecord, IdentitiesService } from '@relayger/identities';
import { Database, type Sql } from '@relayger/kernel';
import {
  type CreateUserRequest,
  fail,
  LIMITS,
  type UpdateUserRequest,
  type User,
  type UserPage,
} from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { type Actor, recordAct } from './actor.js';

/** Identities as operators manage them. No role is changed here. */
@Injectable()
export class UsersService {
  constructor(
    private readonly database: Database,
    private readonly identities: IdentitiesService,
    private readonly accounts: AccountLifecycle,
    private readonly tokens: IssuedTokensService,
  ) {}

  async page(after?: string, limit: number = LIMITS.adminPageDefault): Promise<UserPage> {
    // One more than asked tells whether there is a next page.
    const found = await this.identities.page(after, limit + 1);
    const items = await this.describe(found.slice(0, limit));
    return { items, next: found.length > limit ? (items.at(-1)?.handle ?? null) : null };
  }

  /** @throws RelaygerError `not_found` */
  async get(id: string): Promise<User> {
    const [user] = await this.describe([await this.identities.get(id)]);
    return user as User;
  }

  /** @throws RelaygerError `conflict` */
  async create(actor: Actor, request: Omit<CreateUserRequest, 'reason'>): Promise<User> {
    const id = await this.database.transaction((sql) => this.createIn(sql, actor, request));
    return this.get(id);
  }

  /**
   * Creates an identity inside the caller's transaction.
   * @returns its id
   * @throws RelaygerError `conflict`
   */
  async createIn(
    sql: Sql,
    actor: Actor,
    { kind, handle, displayName = handle }: Omit<CreateUserRequest, 'reason'>,
  ): Promise<string> {
    const id = uuid();
    await this.identities.create(sql, { id, handle, kind, displayName, ownerId: null });
    await this.accounts.open(sql, id);
    await recordAct(sql, actor, { action: 'identity.create', subjectId: id, details: { kind } });
    return id;
  }

  /** @throws RelaygerError `not_found`, `invalid_target` for an administrator that would lock itself out */
  async update(
    actor: Actor,
    id: string,
    { disabled, ...profile }: Omit<UpdateUserRequest, 'reason'>,
  ): Promise<User> {
    if (disabled && id === actor.id) fail('invalid_target');
    const fields = Object.keys(profile);
    await this.database.transaction(async (sql) => {
      await this.identities.get(id, sql);
      if (fields.length > 0) {
        await this.identities.updateProfile(id, profile, sql);
        await recordAct(sql, actor, {
          action: 'identity.update',
          subjectId: id,
          details: { fields },
        });
      }
      if (disabled === true) {
        await this.accounts.disable(sql, id, 'operator');
        await recordAct(sql, actor, { action: 'identity.disable', subjectId: id });
      }
      if (disabled === false) {
        await this.accounts.enable(sql, id, 'operator');
        await recordAct(sql, actor, { action: 'identity.enable', subjectId: id });
      }
    });
    return this.get(id);
  }

  private async describe(records: readonly FullRecord[]): Promise<User[]> {
    const summaries = await this.tokens.summarize(records.map(({ id }) => id));
    const open = new Map(summaries.map((summary) => [summary.identityId, summary.open]));
    return records.map(({ createdAt, disabledAt, ...record }) => ({
      ...record,
      createdAt: createdAt.toISOString(),
      disabledAt: disabledAt?.toISOString() ?? null,
      openTokens: open.get(record.id) ?? 0,
    }));
  }
}
