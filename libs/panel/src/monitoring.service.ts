import { Injectable } from '@nestjs/common';
import { IdentitiesService, type OwnedRecord, OwnershipService } from '@relayger/identities';
import { Database } from '@relayger/kernel';
import {
  type AgentMonitoring,
  fail,
  LIMITS,
  type Monitoring,
  type RuntimeMetadata,
  type TaskMetadata,
} from '@relayger/protocol';
import { type AttemptsRow, countAttempts } from './sql/count-attempts.js';
import { countWork, type WorkRow } from './sql/count-work.js';
import { findRuntime, findTask } from './sql/find-work.js';
import { attemptFigures, workFigures } from './work-figures.js';

/** The work of agents, for their owner: how much, in which state, since when. Nothing of what it is about. */
@Injectable()
export class MonitoringService {
  constructor(
    private readonly database: Database,
    private readonly ownership: OwnershipService,
    private readonly identities: IdentitiesService,
  ) {}

  async summary(ownerId: string): Promise<Monitoring> {
    const { agents, work, attempts } = await this.describe(await this.ownership.list(ownerId));
    const together = attempts.find(({ agentId }) => agentId === null);
    return { windowDays: LIMITS.monitoringDays, agents, totals: workFigures(work, together) };
  }

  /** @throws RelaygerError `not_found` for every agent that is not this person's, as below */
  async agent(ownerId: string, id: string): Promise<AgentMonitoring> {
    const { agents } = await this.describe([await this.owned(ownerId, id)]);
    return agents[0] as AgentMonitoring;
  }

  /** @throws RelaygerError `not_found`, also when the task is assigned to somebody else */
  async task(ownerId: string, agentId: string, id: string): Promise<TaskMetadata> {
    await this.owned(ownerId, agentId);
    const row = await findTask(this.database, agentId, id);
    if (!row) fail('not_found');
    return {
      ...row,
      leaseUntil: row.leaseUntil?.toISOString() ?? null,
      deadline: row.deadline?.toISOString() ?? null,
      createdAt: row.createdAt.toISOString(),
      updatedAt: row.updatedAt.toISOString(),
      finishedAt: row.finishedAt?.toISOString() ?? null,
    };
  }

  /** @throws RelaygerError `not_found`, also when the runtime is another agent's */
  async runtime(ownerId: string, agentId: string, id: string): Promise<RuntimeMetadata> {
    await this.owned(ownerId, agentId);
    const row = await findRuntime(this.database, agentId, id);
    if (!row) fail('not_found');
    const [attempts] = await countAttempts(this.database, [agentId], id);
    const { triggers, allowedSenders, allowedRooms, maxAttempts } = row;
    const { maxCallsPerHour, concurrency, activeHoursUTC } = row;
    const { pending, leased, handled, skipped, deadLetter } = row;
    return {
      id: row.id,
      name: row.name,
      from: row.from,
      policy: {
        triggers,
        allowedSenders,
        allowedRooms,
        maxAttempts,
        maxCallsPerHour,
        concurrency,
        activeHoursUTC,
      },
      version: row.version,
      createdAt: row.createdAt.toISOString(),
      claims: Number(row.claims),
      jobs: { pending, leased, handled, skipped, deadLetter },
      windowDays: LIMITS.monitoringDays,
      ...attemptFigures(attempts),
    };
  }

  private owned(ownerId: string, id: string): Promise<OwnedRecord> {
    return this.ownership.get(this.database, ownerId, id);
  }

  /** All of them in three statements. */
  private async describe(
    records: readonly OwnedRecord[],
  ): Promise<{ agents: AgentMonitoring[]; work: WorkRow[]; attempts: AttemptsRow[] }> {
    const ids = records.map(({ id }) => id);
    const [known, work, attempts] = await Promise.all([
      this.identities.acquaintances({ ids, ownerId: null }),
      countWork(this.database, ids),
      countAttempts(this.database, ids),
    ]);
    const stateOf = new Map(known.map(({ id, state }) => [id, state]));
    const workOf = new Map(work.map((row) => [row.agentId, row]));
    const attemptsOf = new Map(attempts.map((row) => [row.agentId, row]));
    const agents = records.map(({ id, number, handle, displayName, disabledAt }) => {
      const row = workOf.get(id) as WorkRow;
      // A disabled agent is nobody's acquaintance, and not there whatever it last said.
      const reportedState = stateOf.get(id) ?? 'offline';
      const disabled = disabledAt !== null;
      return {
        ...{ id, number, handle, displayName, disabled },
        connected: !disabled && (row.active || reportedState !== 'offline'),
        reportedState,
        ...workFigures([row], attemptsOf.get(id)),
      };
    });
    return { agents, work, attempts };
  }
}
