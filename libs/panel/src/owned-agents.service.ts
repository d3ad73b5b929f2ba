import { Injectable } from '@nestjs/common';
import { AccountLifecycle, IssuedTokensService } from '@relayger/accounts';
import { IdentitiesService, type OwnedRecord, OwnershipService } from '@relayger/identities';
import { type AuditEntry, Database, recordAudit, type Sql } from '@relayger/kernel';
import type { CreateOwnedAgentRequest, OwnedAgent, UpdateProfileRequest } from '@relayger/protocol';

/** A change of one owned agent, and how it is recorded. */
type Change = Pick<AuditEntry, 'action' | 'details'>;

/**
 * The agents of a person. Ownership is asked again in the transaction of every change; an agent of somebody else
 * and one that does not exist look the same.
 */
@Injectable()
export class OwnedAgentsService {
  constructor(
    private readonly database: Database,
    private readonly ownership: OwnershipService,
    private readonly identities: IdentitiesService,
    private readonly accounts: AccountLifecycle,
    private readonly tokens: IssuedTokensService,
  ) {}

  async list(ownerId: string): Promise<OwnedAgent[]> {
    return this.describe(await this.ownership.list(ownerId));
  }

  /** @throws RelaygerError `agent_limit`, `conflict` */
  async create(ownerId: string, request: CreateOwnedAgentRequest): Promise<OwnedAgent> {
    const id = await this.database.transaction(async (sql) => {
      const created = await this.ownership.create(sql, ownerId, request);
      await this.accounts.open(sql, created);
      const entry = { action: 'identity.create', details: { kind: 'agent' } } as const;
      await recordAudit(sql, { actorId: ownerId, subjectId: created, ...entry });
      return created;
    });
    return this.show(ownerId, id);
  }

  /** @throws RelaygerError `not_found` */
  update(ownerId: string, id: string, changes: UpdateProfileRequest): Promise<OwnedAgent> {
    const details = { fields: Object.keys(changes) };
    return this.change(ownerId, id, { action: 'identity.update', details }, async (sql) => {
      await this.identities.updateProfile(id, changes, sql);
    });
  }

  /**
   * Revokes every token of the agent and stops its sign-in.
   * @throws RelaygerError `not_found`
   */
  disable(ownerId: string, id: string): Promise<OwnedAgent> {
    return this.change(ownerId, id, { action: 'identity.disable' }, async (sql) => {
      await this.accounts.disable(sql, id, 'owner');
    });
  }

  /** @throws RelaygerError `not_found`, `disabled_by_operator` */
  enable(ownerId: string, id: string): Promise<OwnedAgent> {
    return this.change(ownerId, id, { action: 'identity.enable' }, (sql) =>
      this.accounts.enable(sql, id, 'owner'),
    );
  }

  /**
   * One agent as its owner sees it.
   * @throws RelaygerError `not_found`
   */
  async show(ownerId: string, id: string): Promise<OwnedAgent> {
    const record = await this.ownership.get(this.database, ownerId, id);
    const [agent] = await this.describe([record]);
    return agent as OwnedAgent;
  }

  private async change(
    ownerId: string,
    id: string,
    change: Change,
    make: (sql: Sql) => Promise<void>,
  ): Promise<OwnedAgent> {
    await this.database.transaction(async (sql) => {
      await this.ownership.get(sql, ownerId, id);
      await make(sql);
      await recordAudit(sql, { actorId: ownerId, subjectId: id, ...change });
    });
    return this.show(ownerId, id);
  }

  private async describe(records: readonly OwnedRecord[]): Promise<OwnedAgent[]> {
    const summaries = await this.tokens.summarize(records.map(({ id }) => id));
    const tokensOf = new Map(summaries.map((summary) => [summary.identityId, summary]));
    return records.map(({ createdAt, disabledAt, ...record }) => ({
      ...record,
      createdAt: createdAt.toISOString(),
      disabledAt: disabledAt?.toISOString() ?? null,
      openTokens: tokensOf.get(record.id)?.open ?? 0,
      lastUsedAt: tokensOf.get(record.id)?.lastUsedAt?.toISOString() ?? null,
    }));
  }
}
